#include "engine/plan/schedule/builder.hpp"

namespace rankscope {

ChunkSchedule gpipe_schedule(PipelineShape shape) {
  ChunkSchedule schedule = empty_schedule(ScheduleKind::gpipe, shape);
  for (int stage = 0; stage < shape.stages; ++stage) {
    for (int m = 0; m < shape.micro_batches; ++m) schedule.order[stage].push_back(forward_of(stage, m));
    // Backwards in the forwards' order, so that gradients are summed in the same order as in every other schedule.
    for (int m = 0; m < shape.micro_batches; ++m) schedule.order[stage].push_back(backward_of(stage, m));
  }
  return schedule;
}

}  // namespace rankscope
