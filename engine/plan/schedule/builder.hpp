// Common code of schedule builders: the ids of a chunk's forward and backward, whole or split, and the linear placement
// of chunks.
#pragma once
#include <numeric>

#include "engine/plan/schedule/schedule.hpp"

namespace rankscope {

inline OpId chunk_op(OpKind kind, int chunk, int micro_batch) {
  return OpId::of({kind, Purpose::none, chunk, micro_batch, -1, Segment::whole, -1});
}
inline OpId forward_of(int chunk, int micro_batch) { return chunk_op(OpKind::forward, chunk, micro_batch); }
inline OpId backward_of(int chunk, int micro_batch) { return chunk_op(OpKind::backward, chunk, micro_batch); }
inline OpId input_gradient_of(int chunk, int micro_batch) {
  return chunk_op(OpKind::input_gradient, chunk, micro_batch);
}
inline OpId weight_gradient_of(int chunk, int micro_batch) {
  return chunk_op(OpKind::weight_gradient, chunk, micro_batch);
}

/// An empty schedule with chunk c on stage c mod p.
inline ChunkSchedule empty_schedule(ScheduleKind kind, PipelineShape shape) {
  ChunkSchedule schedule{kind, shape, std::vector<int>(static_cast<std::size_t>(shape.chunks())), {}};
  for (int chunk = 0; chunk < shape.chunks(); ++chunk) schedule.stage_of_chunk[chunk] = chunk % shape.stages;
  schedule.order.resize(static_cast<std::size_t>(shape.stages));
  return schedule;
}

}  // namespace rankscope
