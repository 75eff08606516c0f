#include <algorithm>

#include "engine/plan/schedule/builder.hpp"

namespace rankscope {

ChunkSchedule one_f_one_b_schedule(PipelineShape shape) {
  ChunkSchedule schedule = empty_schedule(ScheduleKind::one_f_one_b, shape);
  for (int stage = 0; stage < shape.stages; ++stage) {
    auto& order = schedule.order[stage];
    const int warm_up = std::min(shape.stages - stage - 1, shape.micro_batches);
    int forward = 0, backward = 0;
    while (forward < warm_up) order.push_back(forward_of(stage, forward++));
    while (forward < shape.micro_batches) {
      order.push_back(forward_of(stage, forward++));
      order.push_back(backward_of(stage, backward++));
    }
    while (backward < shape.micro_batches) order.push_back(backward_of(stage, backward++));
  }
  return schedule;
}

ChunkSchedule one_f_one_b_async_schedule(PipelineShape shape) {
  ChunkSchedule schedule = one_f_one_b_schedule(shape);
  schedule.kind = ScheduleKind::one_f_one_b_async;
  return schedule;
}

}  // namespace rankscope
