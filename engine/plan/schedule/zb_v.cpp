#include <fmt/format.h>

#include <stdexcept>

#include "engine/plan/schedule/builder.hpp"

namespace rankscope {
namespace {

/// One stage's order while it is written. Chunk 0 is on the V's downward branch, chunk 1 on its upward branch.
class VOrder {
 public:
  VOrder(PipelineShape shape, int stage)
      : micro_batches_(shape.micro_batches), chunk_{stage, 2 * shape.stages - 1 - stage} {}

  void forward(int level) { add(forward_of, level, forwards_); }
  void input_gradient(int level) { add(input_gradient_of, level, input_gradients_); }
  void weight_gradient(int level) { add(weight_gradient_of, level, weight_gradients_); }
  void backward(int level) {
    input_gradient(level);
    weight_gradient(level);
  }
  int forwards(int level) const { return forwards_[level]; }
  bool owes_weight_gradients(int level) const { return weight_gradients_[level] < input_gradients_[level]; }
  std::vector<OpId> take() { return std::move(order_); }

 private:
  /// The next micro-batch; those beyond the last one are counted, but have no ops.
  void add(OpId (*make)(int, int), int level, int (&count)[2]) {
    const int micro_batch = count[level]++;
    if (micro_batch < micro_batches_) order_.push_back(make(chunk_[level], micro_batch));
  }

  int micro_batches_;
  int chunk_[2];
  int forwards_[2] = {0, 0}, input_gradients_[2] = {0, 0}, weight_gradients_[2] = {0, 0};
  std::vector<OpId> order_;
};

std::vector<OpId> order_of(PipelineShape shape, int stage) {
  const int p = shape.stages, r = stage;
  // The full pattern needs 2p-1 micro-batches; fewer run in their order within it.
  const int m = std::max(2 * p - 1, shape.micro_batches);
  VOrder order(shape, stage);
  // Chunk 0 until the first micro-batch returns, then both chunks in turn, then the backwards of the first
  // micro-batches.
  for (int i = 0; i < 2 * (p - r) - 1; ++i) order.forward(0);
  for (int i = 0; i < r; ++i) {
    order.forward(1);
    order.forward(0);
  }
  for (int i = 0; i < p - r; ++i) {
    order.forward(1);
    order.backward(1);
  }
  // Steady: both chunks in turn, one forward and one backward each.
  while (order.forwards(1) < order.forwards(0) || order.forwards(0) < m) {
    if (order.forwards(0) < m) order.forward(0);
    order.backward(0);
    order.forward(1);
    order.backward(1);
  }
  // Cool-down: input gradients first, as others wait for them; weight gradients fill the remaining gaps.
  for (int i = 0; i < r; ++i) {
    order.input_gradient(0);
    order.input_gradient(1);
  }
  for (int i = 0; i < p - r; ++i) order.backward(0);
  for (const int level : {1, 0})
    while (order.owes_weight_gradients(level)) order.weight_gradient(level);
  return order.take();
}

}  // namespace

ChunkSchedule zb_v_schedule(PipelineShape shape) {
  if (shape.virtual_stages != 2)
    throw std::invalid_argument(
        fmt::format("zb-v runs exactly two chunks on each stage, not {}", shape.virtual_stages));
  ChunkSchedule schedule = empty_schedule(ScheduleKind::zb_v, shape);
  for (int stage = 0; stage < shape.stages; ++stage) {
    schedule.stage_of_chunk[2 * shape.stages - 1 - stage] = stage;
    schedule.order[stage] = order_of(shape, stage);
  }
  return schedule;
}

}  // namespace rankscope
