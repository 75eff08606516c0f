#include "engine/execute/optimizer/walk.hpp"

#include <array>
#include <cstddef>

#include "engine/execute/optimizer/optimizer.hpp"
#include "kernels/tensor/random.hpp"

namespace rankscope {
namespace {

// An optimizer that treats small tensors differently runs as on large ones.
constexpr std::int64_t large_tensor = std::int64_t{1} << 20;

/// Two parameters with their gradient and states.
class TwoNumbers {
 public:
  TwoNumbers(Point start, const TrainSpec& train) : parameter_{start.x, start.y} {
    UpdateTarget target = UpdateTarget::whole(DType::f64, DType::f64, {2});
    target.tensor_elements = large_tensor;
    operands_.tensor_elements = large_tensor;
    operands_.parameter = {parameter_.data(), DType::f64, {2}};
    operands_.gradient = {gradient_.data(), DType::f64, {2}};
    operands_.decay = train.hyper.weight_decay.has_value();
    for (const StateSpec& state : states_of(optimizer_rule(train.optimizer), target)) {
      memory_.emplace_back(static_cast<std::size_t>(state.shape.elements() * bytes_of(state.type)));
      operands_.states.push_back({memory_.back().data(), state.type, state.shape});
    }
  }
  const UpdateOperands& operands() const { return operands_; }
  Point point() const { return {parameter_[0], parameter_[1]}; }
  void set_gradient(Point gradient) { gradient_ = {gradient.x, gradient.y}; }

 private:
  std::array<double, 2> parameter_, gradient_{};
  std::vector<std::vector<std::byte>> memory_;
  UpdateOperands operands_;
};

Point noisy(Point gradient, double noise, std::uint64_t seed, std::uint64_t step) {
  if (noise <= 0) return gradient;
  const NormalPair pair = normal_pair(seed, random_stream(RandomPurpose::gradient_noise), step);
  return {gradient.x + noise * pair.first, gradient.y + noise * pair.second};
}

}  // namespace

OptimizerPath walk(const Surface& surface, Point start, const TrainSpec& train, double noise, std::uint64_t seed,
                   const kernels::KernelSet& kernels) {
  OptimizerPath path;
  path.optimizer = train.optimizer;
  path.rate = train.learning_rate;
  path.bytes_per_parameter = state_bytes_per_parameter(train.optimizer);
  TwoNumbers numbers(start, train);
  Workspace workspace;
  const Launch update = bind_update(train, {&numbers.operands(), 1}, nullptr, kernels, workspace);
  workspace.reserve();
  bool stays = add_point(path, surface, start);
  for (std::uint64_t step = 0; stays && step < static_cast<std::uint64_t>(train.steps); ++step) {
    numbers.set_gradient(noisy(surface.gradient(numbers.point()), noise, seed, step));
    update({.step = step});
    stays = add_point(path, surface, numbers.point());
  }
  judge(path, surface);
  return path;
}

double state_bytes_per_parameter(std::string_view optimizer) {
  const UpdateTarget matrix = UpdateTarget::whole(DType::f32, DType::f32, {1024, 1024});
  std::int64_t bytes = 0;
  for (const StateSpec& state : states_of(optimizer_rule(optimizer), matrix))
    bytes += state.shape.elements() * bytes_of(state.type);
  return static_cast<double>(bytes) / static_cast<double>(matrix.shape.elements());
}

}  // namespace rankscope
