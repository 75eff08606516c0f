#include "engine/plan/schedule/builder.hpp"

namespace rankscope {

// Twice the warm-up fills the wait for the first gradient with forwards, and twice as many delayed weight gradients
// fill the cool-down, so that the stages end in the order in which they began.
ChunkSchedule zb_h2_schedule(PipelineShape shape) {
  ChunkSchedule schedule = empty_schedule(ScheduleKind::zb_h2, shape);
  for (int stage = 0; stage < shape.stages; ++stage)
    schedule.order[stage] = zero_bubble_order(shape, stage, 2 * (shape.stages - stage - 1), 2 * stage);
  return schedule;
}

}  // namespace rankscope
