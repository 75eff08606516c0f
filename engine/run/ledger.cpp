#include "engine/run/ledger.hpp"

#include <algorithm>

namespace rankscope {
namespace {

/// The op at whose begin a buffer's memory is taken. A gather of parameters is given its memory when compute comes to
/// where the gather stands, whether it has begun by then or not: a late gather has its memory waiting.
OpIndex taken_at(const RankProgram& program, OpIndex first_use) {
  if (program.ops[first_use].id.fields().purpose != Purpose::zero_parameter) return first_use;
  OpIndex op = first_use;
  while (op + 1 < program.ops.size() && program.ops[op].lane() != Lane::compute) ++op;
  return op;
}

}  // namespace

Ledger::Ledger(const RankProgram& program, const StandingBytes& standing)
    : acquired_(program.ops.size()), released_(program.ops.size()) {
  const std::vector<Lifetime> lifetimes = lifetimes_of(program);
  const auto add = [](std::optional<ClassBytes>& change, const Buffer& buffer) {
    if (!change) change.emplace();
    (*change)[static_cast<std::size_t>(ledger_class(buffer))] += buffer.bytes();
  };
  for (BufferIndex b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.within >= 0) continue;
    if (buffer.persistent) {
      alive_[static_cast<std::size_t>(ledger_class(buffer))] += buffer.bytes();
    } else if (const Lifetime& lifetime = lifetimes[b]; lifetime.used()) {
      add(acquired_[taken_at(program, lifetime.first)], buffer);
      add(released_[lifetime.last], buffer);
    }
  }
  peaks_.by_class = alive_;
  peaks_.total = device_sum(alive_);
  stand(standing);
}

void Ledger::stand(const StandingBytes& standing) {
  const std::lock_guard lock(mutex_);
  const auto change = [&](MemoryClass memory, std::int64_t bytes) {
    alive_[static_cast<std::size_t>(memory)] += bytes;
    peaks_.by_class[static_cast<std::size_t>(memory)] += bytes;
    if (memory != MemoryClass::host) peaks_.total += bytes;
  };
  change(MemoryClass::workspace, standing.workspace - standing_.workspace);
  change(MemoryClass::host, standing.host_workspace - standing_.host_workspace);
  change(MemoryClass::context, standing.context - standing_.context);
  standing_ = standing;
}

Ledger::Peaks Ledger::take_peaks() {
  const std::lock_guard lock(mutex_);
  const Peaks peaks = peaks_;
  peaks_.by_class = alive_;
  peaks_.total = device_sum(alive_);
  return peaks;
}

}  // namespace rankscope
