#include "engine/plan/program/program.hpp"

#include <algorithm>

#include "engine/plan/program/communication.hpp"

namespace rankscope {

Buffer loss_scale_buffer() {
  return {"loss_scale", BufferRole::loss_scale, MemoryClass::optimizer, DType::f64, Shape{3}, true};
}

std::array<std::vector<OpIndex>, lane_count> RankProgram::lanes() const {
  std::array<std::vector<OpIndex>, lane_count> lanes;
  for (OpIndex i = 0; i < ops.size(); ++i) lanes[static_cast<std::size_t>(ops[i].lane())].push_back(i);
  return lanes;
}

std::int64_t RankProgram::payload_bytes(const Op& op) const {
  if (!moves_bytes(op.id.kind())) return 0;
  const CommOperands operands = operands_of(op);
  std::int64_t bytes = 0;
  for (const BufferUse& use : operands.input.empty() ? operands.output : operands.input)
    bytes += buffers[use.buffer].bytes();
  return bytes;
}

std::vector<Lifetime> lifetimes_of(const RankProgram& program) {
  std::vector<Lifetime> lifetimes(program.buffers.size());
  for (OpIndex i = 0; i < program.ops.size(); ++i)
    for (const BufferUse& use : program.ops[i].uses) {
      Lifetime& lifetime = lifetimes[base_of(program.buffers, use.buffer)];
      lifetime.first = std::min(lifetime.first, i);
      lifetime.last = i;
    }
  return lifetimes;
}

std::uint64_t hash_of(const std::string& program_text) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : program_text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ull;
  }
  return hash;
}

int steps_apart(const std::vector<RankProgram>& programs) {
  int apart = 1;
  for (const RankProgram& program : programs) apart = std::max(apart, program.arrivals_ahead.value_or(0) + 1);
  return apart;
}

}  // namespace rankscope
