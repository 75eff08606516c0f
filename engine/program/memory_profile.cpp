#include <algorithm>

#include "engine/program/program.hpp"

namespace rankscope {

MemoryProfile memory_profile(const RankProgram& program) {
  const std::vector<Lifetime> lifetimes = lifetimes_of(program);
  // Differences first, then a running sum: +bytes where a buffer begins to live, -bytes after its last use.
  std::vector<std::array<std::int64_t, memory_class_count>> change(program.ops.size() + 1);
  for (BufferIndex b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.within >= 0) continue;
    const auto memory = static_cast<std::size_t>(buffer.memory);
    if (buffer.persistent) {
      change[0][memory] += buffer.bytes();
    } else if (const Lifetime& lifetime = lifetimes[b]; lifetime.used()) {
      change[lifetime.first][memory] += buffer.bytes();
      change[lifetime.last + 1][memory] -= buffer.bytes();
    }
  }
  change[0][static_cast<std::size_t>(MemoryClass::buffers)] += program.scratch_bytes;
  MemoryProfile profile;
  std::array<std::int64_t, memory_class_count> now{};
  profile.at.reserve(program.ops.size());
  for (OpIndex i = 0; i < program.ops.size(); ++i) {
    std::int64_t sum = 0;
    for (std::size_t c = 0; c < memory_class_count; ++c) {
      now[c] += change[i][c];
      profile.peak_by_class[c] = std::max(profile.peak_by_class[c], now[c]);
      sum += now[c];
    }
    profile.peak = std::max(profile.peak, sum);
    profile.at.push_back(now);
  }
  return profile;
}

}  // namespace rankscope
