#include "engine/plan/schedule/builder.hpp"

namespace rankscope {

// The first stage runs every weight gradient at once, the last one delays p-1 of them: they fill its cool-down, and
// with the p-r micro-batches in flight they sum to p on every stage, 1F1B's maximum.
ChunkSchedule zb_h1_schedule(PipelineShape shape) {
  ChunkSchedule schedule = empty_schedule(ScheduleKind::zb_h1, shape);
  for (int stage = 0; stage < shape.stages; ++stage)
    schedule.order[stage] = zero_bubble_order(shape, stage, shape.stages - stage - 1, stage);
  return schedule;
}

}  // namespace rankscope
