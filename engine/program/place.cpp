#include <algorithm>
#include <map>

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
       {MemoryClass::parameters, MemoryClass::gradients, MemoryClass::optimizer, MemoryClass::buffers}) {
    offset = aligned(offset);
    for (Buffer& buffer : program.buffers) {
      if (!buffer.persistent || buffer.memory != memory) continue;
      if (memory != MemoryClass::gradients) offset = aligned(offset);
      buffer.offset = offset;
      offset += buffer.bytes();
    }
  }
  const std::int64_t base = aligned(offset);

  std::vector<std::size_t> last_use(program.buffers.size(), 0);
  for (std::size_t i = 0; i < program.ops.size(); ++i)
    for (const BufferUse& use : program.ops[i].uses) last_use[use.buffer] = i;

  FreeList free;
  for (std::size_t i = 0; i < program.ops.size(); ++i) {
    for (const BufferUse& use : program.ops[i].uses)
      if (Buffer& buffer = program.buffers[use.buffer]; !buffer.persistent && buffer.offset < 0)
        buffer.offset = base + free.take(aligned(buffer.bytes()));
    for (const BufferUse& use : program.ops[i].uses)
      if (Buffer& buffer = program.buffers[use.buffer]; !buffer.persistent && last_use[use.buffer] == i) {
        free.give(buffer.offset - base, aligned(buffer.bytes()));
        last_use[use.buffer] = ~std::size_t{0};  // an op may name a buffer twice
      }
  }
  program.arena_bytes = base + free.end();
  return program;
}

}  // namespace rankscope
