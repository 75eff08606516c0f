#include <algorithm>
#include <map>

#include "engine/program/passes.hpp"

namespace rankscope {
namespace {

constexpr std::int64_t first_bucket_bytes = 1 << 20;  // PyTorch DDP's: the first all-reduce should start early

/// Index after the last op that accumulates into a gradient, by gradient buffer.
std::map<BufferIndex, std::size_t> completed_at(const RankProgram& program) {
  std::map<BufferIndex, std::size_t> at;
  for (std::size_t i = 0; i < program.ops.size(); ++i)
    for (const BufferUse& use : program.ops[i].uses)
      if (program.buffers[use.buffer].memory == MemoryClass::gradients) at[use.buffer] = i + 1;
  return at;
}

}  // namespace

RankProgram add_gradient_reduction(RankProgram program, const StepProgram& step) {
  const std::map<BufferIndex, std::size_t> complete = completed_at(program);
  std::vector<Insertion> reductions;
  if (step.grid.data > 1) {
    const auto limit = static_cast<std::int64_t>(step.scenario.plan.bucket_mib * (1 << 20));
    std::vector<BufferUse> bucket;
    std::int64_t bytes = 0;
    int index = 0;
    const auto close = [&] {
      std::size_t position = 0;
      for (const BufferUse& use : bucket) position = std::max(position, complete.at(use.buffer));
      const int chunk = step.grid.coordinates_of(program.rank).pipeline;
      reductions.push_back(
          {position,
           {OpId::of({OpKind::all_reduce, Purpose::data_gradient, chunk, -1, -1, Segment::whole, index++}),
            GroupKind::data,
            -1,
            std::move(bucket),
            {},
            {}}});
      bucket.clear();
      bytes = 0;
    };
    // Buffers stand in order of completion (see expand). A bucket closes once it has reached its size.
    for (BufferIndex b = 0; b < program.buffers.size(); ++b) {
      if (program.buffers[b].memory != MemoryClass::gradients) continue;
      bucket.push_back({b, Access::accumulate});
      bytes += program.buffers[b].bytes();
      if (bytes >= (index == 0 ? std::min(first_bucket_bytes, limit) : limit)) close();
    }
    if (!bucket.empty()) close();
  }
  // The tied embedding has a copy on the first and on the last stage; their gradients are summed after the data
  // group's, as the last collective before the norm on both (one global order for overlapping groups). Where one rank
  // has both chunks there is one copy, and nothing to sum.
  const int stage = step.grid.coordinates_of(program.rank).pipeline;
  const int first = step.schedule.stage_of_chunk.front(), last = step.schedule.stage_of_chunk.back();
  if (step.model.spec.tied && first != last && (stage == first || stage == last)) {
    const int embedding = step.model.segments.front().parameters.front();
    for (BufferIndex b = 0; b < program.buffers.size(); ++b)
      if (program.buffers[b].memory == MemoryClass::gradients && program.buffers[b].parameter == embedding)
        reductions.push_back({program.ops.size(),
                              {OpId::of({OpKind::all_reduce, Purpose::embedding, -1, -1, -1, Segment::whole, 0}),
                               GroupKind::embedding,
                               -1,
                               {{b, Access::accumulate}},
                               {},
                               {}}});
  }
  return insert_ops(std::move(program), std::move(reductions));
}

}  // namespace rankscope
