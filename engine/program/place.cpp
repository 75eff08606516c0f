#include <algorithm>
#include <map>
#include <set>

#include "engine/program/passes.hpp"

namespace rankscope {
namespace {

constexpr std::int64_t cache_line = 64;
std::int64_t aligned(std::int64_t offset) { return (offset + cache_line - 1) / cache_line * cache_line; }

/// Free stretches of an address space without an end, first fit.
class FreeList {
 public:
  std::int64_t take(std::int64_t bytes) {
    for (auto hole = holes_.begin(); hole != holes_.end(); ++hole)
      if (hole->second >= bytes) {
        const std::int64_t offset = hole->first, rest = hole->second - bytes;
        holes_.erase(hole);
        if (rest > 0) holes_.emplace(offset + bytes, rest);
        return offset;
      }
    // The last hole may touch the end: grow it instead of leaving it unused.
    std::int64_t offset = end_;
    if (!holes_.empty() && std::prev(holes_.end())->first + std::prev(holes_.end())->second == end_) {
      offset = std::prev(holes_.end())->first;
      holes_.erase(std::prev(holes_.end()));
    }
    end_ = offset + bytes;
    return offset;
  }

  void give(std::int64_t offset, std::int64_t bytes) {
    auto hole = holes_.emplace(offset, bytes).first;
    if (const auto next = std::next(hole); next != holes_.end() && hole->first + hole->second == next->first) {
      hole->second += next->second;
      holes_.erase(next);
    }
    if (hole != holes_.begin())
      if (const auto before = std::prev(hole); before->first + before->second == hole->first) {
        before->second += hole->second;
        holes_.erase(hole);
      }
  }

  std::int64_t end() const { return end_; }

 private:
  std::map<std::int64_t, std::int64_t> holes_;  // offset -> bytes
  std::int64_t end_ = 0;
};

}  // namespace

RankProgram place_buffers(RankProgram program) {
  std::int64_t offset = 0;
  for (const MemoryClass memory :
       {MemoryClass::parameters, MemoryClass::gradients, MemoryClass::optimizer, MemoryClass::buffers})
    for (Buffer& buffer : program.buffers) {
      if (!buffer.persistent || buffer.within >= 0 || buffer.host || buffer.memory != memory) continue;
      buffer.offset = aligned(offset);
      offset = buffer.offset + buffer.bytes();
    }
  const std::int64_t base = aligned(offset);

  const std::vector<Lifetime> lifetimes = lifetimes_of(program);
  FreeList free;
  for (OpIndex i = 0; i < program.ops.size(); ++i) {
    for (const BufferUse& use : program.ops[i].uses)
      if (Buffer& buffer = program.buffers[base_of(program.buffers, use.buffer)];
          !buffer.persistent && buffer.offset < 0)
        buffer.offset = base + free.take(aligned(buffer.bytes()));
    std::set<BufferIndex> dying;  // an op may name a buffer, or views in it, several times
    for (const BufferUse& use : program.ops[i].uses)
      if (const BufferIndex b = base_of(program.buffers, use.buffer);
          !program.buffers[b].persistent && lifetimes[b].last == i)
        dying.insert(b);
    for (const BufferIndex b : dying) free.give(program.buffers[b].offset - base, aligned(program.buffers[b].bytes()));
  }
  program.arena_bytes = base + free.end();

  // The host's memory is plenty: what lies there keeps its place.
  std::int64_t host = program.arena_bytes;
  for (Buffer& buffer : program.buffers)
    if (buffer.host && buffer.within < 0) {
      buffer.offset = host;
      host += aligned(buffer.bytes());
    }
  program.host_bytes = host - program.arena_bytes;
  for (Buffer& buffer : program.buffers)
    if (buffer.within >= 0) buffer.offset = program.buffers[static_cast<std::size_t>(buffer.within)].offset + buffer.at;
  return program;
}

}  // namespace rankscope
