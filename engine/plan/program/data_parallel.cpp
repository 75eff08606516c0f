#include <fmt/format.h>

#include <algorithm>

#include "engine/op/contains.hpp"
#include "engine/plan/program/bucket.hpp"
#include "engine/plan/program/passes.hpp"

namespace rankscope {

RankProgram add_gradient_reduction(RankProgram program, const StepProgram& step) {
  if (step.zero() > 0 || step.grid.servers > 0) return program;
  // Only a main device updates, so only it needs whole gradients.
  const bool to_all = !step.scenario.plan.has_main_device(), updates = step.updates(program.rank);
  std::vector<Insertion> reductions;
  const int stage = step.grid.coordinates_of(program.rank).pipeline;
  const WholeBuffers whole(program, BufferRole::gradient);
  for (const Bucket& bucket : buckets_of(step, stage)) {
    if (step.grid.data == 1 && bucket.summed == 0) continue;
    const std::vector<BufferIndex> gradients = whole.of(bucket);
    const BufferIndex base = add_base(program, bucket, fmt::format("gradients:bucket{}", bucket.index), gradients);
    if (step.grid.data > 1) {
      Op reduction{OpId::of({to_all ? OpKind::all_reduce : OpKind::reduce, Purpose::data_gradient, stage, -1, -1,
                             Segment::whole, bucket.index}),
                   GroupKind::data,
                   -1,
                   {{base, Access::accumulate}}};
      if (!to_all) reduction.root = step.grid.group_of(program.rank, GroupKind::data).front();
      reductions.push_back({after_last_use(program, gradients), std::move(reduction)});
    }
    // The complete bucket: without ZeRO such gradients have a bucket of their own.
    if (bucket.summed > 0 && updates)
      reductions.push_back({program.ops.size(), tensor_reduction(bucket.chunk, bucket.index, base)});
  }
  if (shares_embedding(step, program.rank) && updates) {
    const int embedding = step.model.segments.front().parameters.front();
    for (BufferIndex b = 0; b < program.buffers.size(); ++b)
      if (program.buffers[b].memory == MemoryClass::gradients && program.buffers[b].parameter == embedding)
        reductions.push_back({program.ops.size(), embedding_reduction(b)});
  }
  return insert_ops(std::move(program), std::move(reductions));
}

std::size_t after_last_use(const RankProgram& program, const std::vector<BufferIndex>& buffers) {
  std::size_t after = 0;
  for (std::size_t i = 0; i < program.ops.size(); ++i)
    for (const BufferUse& use : program.ops[i].uses)
      if (contains(buffers, use.buffer)) after = i + 1;
  return after;
}

bool shares_embedding(const StepProgram& step, int rank) {
  const int stage = step.grid.coordinates_of(rank).pipeline;
  const int first = step.schedule.stage_of_chunk.front(), last = step.schedule.stage_of_chunk.back();
  return step.model.spec.tied && first != last && (stage == first || stage == last);
}

Op embedding_reduction(BufferIndex gradient) {
  return {OpId::of({OpKind::all_reduce, Purpose::embedding, -1, -1, -1, Segment::whole, 0}),
          GroupKind::embedding,
          -1,
          {{gradient, Access::accumulate}}};
}

}  // namespace rankscope
