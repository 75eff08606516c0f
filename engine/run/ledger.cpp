#include "engine/run/ledger.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace rankscope {

Ledger::Ledger(const RankProgram& program, const StandingBytes& standing)
    : is_main_(program.ops.size()), at_begin_(program.ops.size()), at_end_(program.ops.size()) {
  const bool computes =
      std::any_of(program.ops.begin(), program.ops.end(), [](const Op& op) { return op.lane() == Lane::compute; });
  for (OpIndex op = 0; op < program.ops.size(); ++op)
    is_main_[op] = program.ops[op].lane() == (computes ? Lane::compute : Lane::server);
  for (const Buffer& buffer : program.buffers)
    if (buffer.within < 0 && buffer.persistent)
      alive_[static_cast<std::size_t>(ledger_class(buffer))] += buffer.bytes();
  add_moves(program);
  find_pauses(program);
  stand(standing);
}

void Ledger::add_moves(const RankProgram& program) {
  const std::vector<Lifetime> lifetimes = lifetimes_of(program);
  std::vector<std::array<Move, 2>> of_op(program.ops.size());
  std::vector<std::array<bool, 2>> any(program.ops.size());
  for (BufferIndex b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.within >= 0 || buffer.persistent || !lifetimes[b].used()) continue;
    const auto memory = static_cast<std::size_t>(ledger_class(buffer));
    for (const auto& [op, leaves] : {std::pair{lifetimes[b].first, 0u}, std::pair{lifetimes[b].last, 1u}}) {
      of_op[op][leaves].bytes[memory] += buffer.bytes();
      any[op][leaves] = true;
    }
  }
  for (OpIndex op = 0; op < program.ops.size(); ++op) {
    at_begin_[op].begin = moves_.size();
    for (const unsigned leaves : {0u, 1u}) {
      if (leaves == 1) at_begin_[op].end = at_end_[op].begin = moves_.size();
      if (any[op][leaves]) moves_.push_back({op, leaves == 1 ? -1 : 1, of_op[op][leaves].bytes});
    }
    at_end_[op].end = moves_.size();
    at_end_[op].at = at_begin_[op].at = op;
  }
}

/// Behind each op of the main lane, where in the moves of the ops that follow it on other lanes most is alive; of the
/// last one all of them, and of the first one those in front of it.
void Ledger::find_pauses(const RankProgram& program) {
  bool first = true;
  for (OpIndex op = 0; op < program.ops.size(); ++op) {
    if (!is_main_[op]) continue;
    if (std::exchange(first, false)) at_begin_[op].begin = 0;
    OpIndex next = op + 1;
    while (next < program.ops.size() && !is_main_[next]) ++next;
    Part& pause = at_end_[op];
    if (next == program.ops.size()) {
      pause.end = moves_.size();
      continue;
    }
    std::int64_t sum = 0, most = 0;
    for (std::size_t m = pause.end; m < at_begin_[next].begin; ++m) {
      sum += moves_[m].sign * device_sum(moves_[m].bytes);
      if (sum <= most) continue;
      most = sum;
      pause.end = m + 1;
      pause.at = moves_[m].op;
    }
    at_begin_[next].begin = pause.end;
  }
}

bool Ledger::apply(const Part& part, Peaks& peaks) {
  for (std::size_t m = part.begin; m < part.end; ++m) {
    for (std::size_t c = 0; c < memory_class_count; ++c) alive_[c] += moves_[m].sign * moves_[m].bytes[c];
    raise(peaks, alive_);
  }
  return part.begin < part.end;
}

void Ledger::raise(Peaks& peaks, const ClassBytes& alive) {
  for (std::size_t c = 0; c < memory_class_count; ++c) peaks.by_class[c] = std::max(peaks.by_class[c], alive[c]);
  peaks.total = std::max(peaks.total, device_sum(alive));
}

Ledger::Peaks& Ledger::open(std::uint32_t step) {
  const auto [found, made] = peaks_.try_emplace(step);
  if (made) raise(found->second, alive_);
  return found->second;
}

void Ledger::stand(const StandingBytes& standing) {
  const std::lock_guard lock(mutex_);
  const auto change = [&](MemoryClass memory, std::int64_t bytes) {
    alive_[static_cast<std::size_t>(memory)] += bytes;
    for (auto& [step, peaks] : peaks_) {
      peaks.by_class[static_cast<std::size_t>(memory)] += bytes;
      if (memory != MemoryClass::host) peaks.total += bytes;
    }
  };
  change(MemoryClass::workspace, standing.workspace - standing_.workspace);
  change(MemoryClass::host, standing.host_workspace - standing_.host_workspace);
  change(MemoryClass::context, standing.context - standing_.context);
  standing_ = standing;
}

Ledger::Peaks Ledger::take_peaks(std::uint32_t step) {
  const std::lock_guard lock(mutex_);
  open(step);
  return peaks_.extract(step).mapped();
}

}  // namespace rankscope
