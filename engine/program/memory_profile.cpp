#include <algorithm>

#include "engine/program/program.hpp"

namespace rankscope {

MemoryProfile memory_profile(const RankProgram& program) {
  const std::vector<Lifetime> lifetimes = lifetimes_of(program);
  // Differences first, then a running sum: +bytes where a buffer begins to live, -bytes after its last use.
  std::vector<ClassBytes> change(program.ops.size() + 1);
  for (BufferIndex b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.within >= 0) continue;
    const auto memory = static_cast<std::size_t>(ledger_class(buffer));
    if (buffer.persistent) {
      change[0][memory] += buffer.bytes();
    } else if (const Lifetime& lifetime = lifetimes[b]; lifetime.used()) {
      change[lifetime.first][memory] += buffer.bytes();
      change[lifetime.last + 1][memory] -= buffer.bytes();
    }
  }
  change[0][static_cast<std::size_t>(MemoryClass::workspace)] += program.scratch_bytes;
  change[0][static_cast<std::size_t>(MemoryClass::context)] += program.context_bytes;
  change[0][static_cast<std::size_t>(MemoryClass::host)] += program.host_scratch_bytes;
  MemoryProfile profile;
  ClassBytes now{};
  profile.at.reserve(program.ops.size());
  for (OpIndex i = 0; i < program.ops.size(); ++i) {
    for (std::size_t c = 0; c < memory_class_count; ++c) {
      now[c] += change[i][c];
      profile.peak_by_class[c] = std::max(profile.peak_by_class[c], now[c]);
    }
    profile.peak = std::max(profile.peak, device_sum(now));
    profile.at.push_back(now);
  }
  return profile;
}

}  // namespace rankscope
