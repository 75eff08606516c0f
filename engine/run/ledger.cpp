#include "engine/run/ledger.hpp"

#include <algorithm>
#include <numeric>

namespace rankscope {

Ledger::Ledger(const RankProgram& program, std::int64_t workspace_bytes)
    : acquired_(program.ops.size()), released_(program.ops.size()) {
  constexpr OpIndex never = ~OpIndex{0};
  std::vector<OpIndex> first(program.buffers.size(), never), last(program.buffers.size(), 0);
  for (OpIndex i = 0; i < program.ops.size(); ++i)
    for (const BufferUse& use : program.ops[i].uses) {
      first[use.buffer] = std::min(first[use.buffer], i);
      last[use.buffer] = i;
    }
  const auto add = [](std::optional<ClassBytes>& change, const Buffer& buffer) {
    if (!change) change.emplace();
    (*change)[static_cast<std::size_t>(buffer.memory)] += buffer.bytes();
  };
  for (BufferIndex b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.persistent) {
      alive_[static_cast<std::size_t>(buffer.memory)] += buffer.bytes();
    } else if (first[b] != never) {
      add(acquired_[first[b]], buffer);
      add(released_[last[b]], buffer);
    }
  }
  alive_[static_cast<std::size_t>(MemoryClass::buffers)] += workspace_bytes;
  peaks_.by_class = alive_;
  peaks_.total = std::accumulate(alive_.begin(), alive_.end(), std::int64_t{0});
}

Ledger::Peaks Ledger::take_peaks() {
  const std::lock_guard lock(mutex_);
  const Peaks peaks = peaks_;
  peaks_.by_class = alive_;
  peaks_.total = std::accumulate(alive_.begin(), alive_.end(), std::int64_t{0});
  return peaks;
}

}  // namespace rankscope
