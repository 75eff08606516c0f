// Speed of each optimizer's update of a 2048 × 2048 matrix on one thread, with its rule's memory figures: bytes of
// states and bytes moved per parameter (which engine/predict charges), and the rate at which the bytes moved.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "engine/execute/optimizer/optimizer.hpp"
#include "kernels/cpu/cpu.hpp"
#include "tests/engine/execute/optimizer/optimizer_states.hpp"

using namespace rankscope;

namespace {

constexpr std::int64_t side = 2048;

/// The median of nine updates, seconds.
double update_seconds(const Launch& update) {
  std::vector<double> seconds;
  for (std::uint64_t step = 0; step < 10; ++step) {
    const auto begin = std::chrono::steady_clock::now();
    update({.step = step, .global_tokens = 512});
    if (step > 0) seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + 4, seconds.end());
  return seconds[4];
}

void measure(const OptimizerRule& rule, DType type) {
  TrainSpec train;
  train.optimizer = rule.name;
  const Shape shape{side, side};
  std::vector<std::vector<std::byte>> memory;
  const auto take = [&](DType of, const Shape& its) {
    memory.emplace_back(static_cast<std::size_t>(its.elements() * bytes_of(of)));
    return View{memory.back().data(), of, its};
  };
  const DType wide = accumulation_type(type);
  UpdateOperands operands{take(type, shape), take(wide, shape), {}, true};
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    const double value = static_cast<double>(i % 1009) / 512 - 0.98;
    if (wide == DType::f64)
      operands.gradient.as<double>()[i] = value;
    else
      operands.gradient.as<float>()[i] = static_cast<float>(value);
  }
  double kept = 0;
  for (const StateSpec& state : optimizer_states(train, type, shape)) {
    operands.states.push_back(take(state.type, state.shape));
    kept += static_cast<double>(operands.states.back().bytes());
  }
  const double moved = static_cast<double>(operands.gradient.bytes()) * rule.gradient_passes +
                       static_cast<double>(operands.parameter.bytes()) * (1 + rule.parameter_passes) + 2 * kept;
  Workspace workspace;
  const Launch update = bind_update(train, {&operands, 1}, nullptr, kernels::cpu_kernels(), workspace);
  workspace.reserve();
  const double seconds = update_seconds(update), n = static_cast<double>(shape.elements());
  std::printf("%-10s %-5s %8.3f %10.3f %10.2f %8.2f\n", std::string(rule.name).c_str(),
              std::string(name_of(type)).c_str(), kept / n, moved / n, seconds / n * 1e9, moved / seconds * 1e-9);
}

}  // namespace

int main() {
  std::printf("%-10s %-5s %8s %10s %10s %8s\n", "", "", "kept B/p", "moved B/p", "ns/p", "GB/s");
  for (const DType type : {DType::f32, DType::bf16, DType::f64})
    for (const OptimizerRule& rule : optimizer_rules()) measure(rule, type);
}
