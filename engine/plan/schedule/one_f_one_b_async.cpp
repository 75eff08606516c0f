#include "engine/plan/schedule/schedule.hpp"

namespace rankscope {

ChunkSchedule one_f_one_b_async_schedule(PipelineShape shape) {
  ChunkSchedule schedule = one_f_one_b_schedule(shape);
  schedule.kind = ScheduleKind::one_f_one_b_async;
  return schedule;
}

}  // namespace rankscope
