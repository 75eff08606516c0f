#include "engine/execute/run/stress.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <set>
#include <thread>

namespace rankscope {
namespace {

/// The final mixing step of SplitMix64.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// All ones are NaN in every floating type; as a token they would be out of range of the embedding.
bool can_be_poisoned(const Buffer& buffer) {
  return !buffer.persistent && buffer.within < 0 && buffer.type != DType::i32 && buffer.type != DType::u8;
}

}  // namespace

Stress::Stress(const StressSpec& spec, const RankProgram& program, const Arena& arena, LaneQueues& queues)
    : spec_(spec), program_(program), arena_(arena), queues_(queues), used_(program.ops.size()) {
  if (!spec_.poison) return;
  // Edges order accesses to bytes. Bytes may be reused for another buffer after their last use, even while ops still
  // use other bytes of the same buffer. So poison is written by bytes, not by buffers.
  std::map<BufferIndex, std::set<std::int64_t>> borders;
  for (const Op& op : program.ops)
    for (const BufferUse& use : op.uses) {
      const BufferIndex base = base_of(program.buffers, use.buffer);
      if (!can_be_poisoned(program.buffers[base])) continue;
      const Buffer& used = program.buffers[use.buffer];
      borders[base].insert({used.offset, used.offset + used.bytes()});
    }
  std::map<BufferIndex, std::vector<std::size_t>> of_base;
  for (const auto& [base, at] : borders)
    for (auto begin = at.begin(); std::next(begin) != at.end(); ++begin) {
      of_base[base].push_back(stretches_.size());
      stretches_.push_back({*begin, *std::next(begin)});
    }
  for (OpIndex op = 0; op < program.ops.size(); ++op) {
    std::set<std::size_t> used;
    for (const BufferUse& use : program.ops[op].uses)
      for (const std::size_t i : of_base[base_of(program.buffers, use.buffer)]) {
        const Buffer& buffer = program.buffers[use.buffer];
        if (buffer.offset <= stretches_[i].begin && stretches_[i].end <= buffer.offset + buffer.bytes()) used.insert(i);
      }
    used_[op].assign(used.begin(), used.end());
    for (const std::size_t i : used) ++stretches_[i].users;
  }
  left_ = std::make_unique<std::atomic<int>[]>(stretches_.size());
  const auto on_device = std::find_if(program.ops.begin(), program.ops.end(),
                                      [](const Op& op) { return !is_on_host(op.lane()); });  // no compute on servers
  Queue& queue = queues_.of(on_device->lane());
  for (std::size_t i = 0; i < stretches_.size(); ++i) {
    left_[i] = stretches_[i].users;
    poison(stretches_[i], queue);
  }
  if (const Mark poisoned = queue.mark()) poisoned->wait();
}

void Stress::before(OpIndex index, std::uint32_t step) const {
  if (spec_.greatest_delay_ns <= 0) return;
  const Op& op = program_.ops[index];
  const OpKind kind = op.id.kind();
  if (kind != OpKind::send && !is_collective(kind) && kind != OpKind::optimizer) return;
  const std::uint64_t draw = mixed(
      spec_.seed ^ mixed(op.id.value() ^ mixed((std::uint64_t{step} << 32) + static_cast<unsigned>(program_.rank))));
  std::this_thread::sleep_for(std::chrono::nanoseconds(draw % static_cast<std::uint64_t>(spec_.greatest_delay_ns + 1)));
}

void Stress::after(OpIndex op) {
  if (used_[op].empty()) return;
  Queue& queue = queues_.of(program_.ops[op].lane());
  const Mark used = queue.mark();
  for (const std::size_t i : used_[op]) {
    if (used) {
      const std::lock_guard lock(mutex_);
      stretches_[i].used.push_back(used);
    }
    if (--left_[i] == 0) {
      poison(stretches_[i], queue);
      stretches_[i].used.clear();
      // The next step's first use is after this op, so no op decrements the counter in between.
      left_[i] = stretches_[i].users;
    }
  }
}

void Stress::poison(const Stretch& stretch, Queue& queue) const {
  HostQueue here;
  Queue& filling = stretch.begin < program_.arena_bytes ? queue : here;
  for (const Mark& used : stretch.used) filling.wait_for(used);
  const std::int64_t bytes = stretch.end - stretch.begin;
  filling.fill(arena_.view(stretch.begin, DType::u8, {bytes}).data, 0xFF, bytes);
}

}  // namespace rankscope
