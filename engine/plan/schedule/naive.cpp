#include "engine/plan/schedule/builder.hpp"

namespace rankscope {

ChunkSchedule naive_schedule(PipelineShape shape) {
  ChunkSchedule schedule = empty_schedule(ScheduleKind::naive, shape);
  for (int stage = 0; stage < shape.stages; ++stage)
    for (int m = 0; m < shape.micro_batches; ++m) {
      schedule.order[stage].push_back(forward_of(stage, m));
      schedule.order[stage].push_back(backward_of(stage, m));
    }
  return schedule;
}

}  // namespace rankscope
