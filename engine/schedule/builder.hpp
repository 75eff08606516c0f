// What schedule builders share: the ids of a chunk's forward and backward, and the straight placement of chunks.
#pragma once
#include <numeric>

#include "engine/schedule/schedule.hpp"

namespace rankscope {

inline OpId forward_of(int chunk, int micro_batch) {
  return OpId::of({OpKind::forward, Purpose::none, chunk, micro_batch, -1, Segment::whole, -1});
}
inline OpId backward_of(int chunk, int micro_batch) {
  return OpId::of({OpKind::backward, Purpose::none, chunk, micro_batch, -1, Segment::whole, -1});
}

/// An empty schedule with chunk c on stage c mod p.
inline ChunkSchedule empty_schedule(std::string_view name, PipelineShape shape) {
  ChunkSchedule schedule{std::string(name), shape, std::vector<int>(static_cast<std::size_t>(shape.chunks())), {}};
  for (int chunk = 0; chunk < shape.chunks(); ++chunk) schedule.stage_of_chunk[chunk] = chunk % shape.stages;
  schedule.order.resize(static_cast<std::size_t>(shape.stages));
  return schedule;
}

}  // namespace rankscope
