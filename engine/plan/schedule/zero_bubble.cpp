#include <algorithm>

#include "engine/plan/schedule/builder.hpp"

namespace rankscope {

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

}  // namespace rankscope
