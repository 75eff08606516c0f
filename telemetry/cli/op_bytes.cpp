#include "telemetry/cli/op_bytes.hpp"

#include <stdexcept>

#include "engine/plan/program/program.hpp"

namespace rankscope {

OpBytes::OpBytes(const StoreView& run) {
  const int ranks = run.hello() != nullptr ? run.hello()->ranks : 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const ProgramRecord* record = run.program(rank);
    if (record == nullptr) continue;
    try {
      const RankProgram program = parse_program(record->text);
      for (const Op& op : program.ops)
        if (is_communication(op.id.kind()) || op.id.kind() == OpKind::copy)
          of_rank_[rank][op.id] = program.payload_bytes(op);
    } catch (const std::invalid_argument&) {
      continue;
    }
  }
}

std::optional<std::int64_t> OpBytes::of(int rank, OpId op) const {
  const auto program = of_rank_.find(rank);
  if (program == of_rank_.end()) return std::nullopt;
  const auto found = program->second.find(op);
  return found == program->second.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace rankscope
