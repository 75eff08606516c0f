// The handcrafted zero-bubble schedules.
#include <algorithm>

#include "engine/plan/schedule/builder.hpp"

namespace rankscope {
namespace {

/// One stage of ZB-H1 and ZB-H2: `warm_up` forwards; then a forward and an input gradient in turn, and after each of
/// these input gradients one weight gradient if more than `deferred` of them are pending; at the end the rest.
std::vector<OpId> zero_bubble_order(PipelineShape shape, int stage, int warm_up, int deferred) {
  std::vector<OpId> order;
  int forward = 0, input_gradient = 0, weight_gradient = 0;
  while (forward < std::min(warm_up, shape.micro_batches)) order.push_back(forward_of(stage, forward++));
  while (input_gradient < shape.micro_batches) {
    if (forward < shape.micro_batches) order.push_back(forward_of(stage, forward++));
    order.push_back(input_gradient_of(stage, input_gradient++));
    if (input_gradient - weight_gradient > deferred)
      order.push_back(weight_gradient_of(stage, weight_gradient++));
  }
  while (weight_gradient < shape.micro_batches) order.push_back(weight_gradient_of(stage, weight_gradient++));
  return order;
}

}  // namespace

// The first stage runs every weight gradient at once, the last one delays p-1 of them: they fill its cool-down, and
// with the p-r micro-batches in flight they sum to p on every stage, 1F1B's maximum.
ChunkSchedule zb_h1_schedule(PipelineShape shape) {
  ChunkSchedule schedule = empty_schedule(ScheduleKind::zb_h1, shape);
  for (int stage = 0; stage < shape.stages; ++stage)
    schedule.order[stage] = zero_bubble_order(shape, stage, shape.stages - stage - 1, stage);
  return schedule;
}

// Twice the warm-up fills the wait for the first gradient with forwards, and twice as many delayed weight gradients
// fill the cool-down, so that the stages end in the order in which they began.
ChunkSchedule zb_h2_schedule(PipelineShape shape) {
  ChunkSchedule schedule = empty_schedule(ScheduleKind::zb_h2, shape);
  for (int stage = 0; stage < shape.stages; ++stage)
    schedule.order[stage] = zero_bubble_order(shape, stage, 2 * (shape.stages - stage - 1), 2 * stage);
  return schedule;
}

}  // namespace rankscope
