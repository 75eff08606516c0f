// Runs a scenario, optionally from a checkpoint, and stores its results.
#pragma once
#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "engine/execute/checkpoint/checkpoint.hpp"
#include "engine/execute/run/job.hpp"
#include "engine/plan/model/part.hpp"
#include "kernels/tensor/element.hpp"
#include "tests/comparison.hpp"

namespace rankscope::testing {

/// By the parameter's name: all its elements, in the model's order.
using Weights = std::map<std::string, std::vector<double>>;

struct Trained {
  /// As the optimizer keeps them: the masters if there are any.
  Weights weights;
  /// The bytes of every parameter and of every state that is kept across steps, by rank and the buffer's name.
  std::map<std::string, std::vector<std::byte>> memory;
  /// By each rank that updates with a loss scale: scale, steps since its last change, number of updates.
  std::map<int, std::array<double, 3>> loss_scale;
};

/// Trains to the scenario's end, from `resume` if given; writes checkpoints to `folder` unless it is empty.
inline Trained train(const Scenario& scenario, const std::string& folder, const Checkpoint* resume = nullptr) {
  const StepProgram step = compile(scenario);
  Trained trained;
  std::mutex mutex;
  RunSettings settings;
  settings.steps = static_cast<std::uint32_t>(scenario.train.steps);
  settings.checkpoint_folder = folder;
  settings.resume = resume;
  settings.first_step = resume ? static_cast<std::uint32_t>(resume->steps_done()) : 0;
  const bool has_masters = accumulation_type(step.model.type) != step.model.type;
  const auto keep = [&](const RankRun& run, int rank, BufferIndex b) {
    const Buffer& buffer = run.program().buffers[b];
    const View view = run.view(b);
    // A main device's replicas receive its new state only with the next step.
    if (buffer.role == BufferRole::loss_scale && step.updates(rank)) {
      const auto* state = view.as<double>();
      trained.loss_scale[rank] = {state[0], state[1], state[2]};
    }
    if (!buffer.persistent || buffer.parameter < 0 || buffer.role == BufferRole::gradient) return;
    trained.memory[std::to_string(rank) + " " + buffer.name].assign(view.as<std::byte>(),
                                                                    view.as<std::byte>() + view.bytes());
    const bool master = buffer.role == BufferRole::master;
    const bool weights = buffer.role == BufferRole::parameter && buffer.piece == step.updates_pieces();
    if (!step.updates(rank) || !(has_masters ? master : weights)) return;
    const ParameterSpec& spec = step.model.parameters[static_cast<std::size_t>(buffer.parameter)];
    std::vector<double>& values = trained.weights[spec.name];
    values.resize(static_cast<std::size_t>(spec.whole.elements()));
    for (const ElementRun& r :
         element_runs(spec, step.grid.coordinates_of(rank).tensor, buffer.first, buffer.shape.elements()))
      for (std::int64_t i = 0; i < r.count && !r.is_padding(); ++i)
        values[static_cast<std::size_t>(r.global + i)] = element(view, r.local + i);
  };
  run_loopback(
      step, settings, [](int) { return nullptr; },
      [&](RankRun& run, int rank) {
        run.run(settings.first_step, settings.steps - settings.first_step);
        const std::lock_guard lock(mutex);
        for (BufferIndex b = 0; b < run.program().buffers.size(); ++b) keep(run, rank, b);
      });
  return trained;
}

/// The largest error of any tensor, relative to the tensor's largest weight; infinite if one model lacks a tensor, if a
/// weight is NaN, or if there is no model.
inline double difference(const Weights& actual, const Weights& expected) {
  if (actual.size() != expected.size() || expected.empty()) return std::numeric_limits<double>::infinity();
  test::LargestError worst;
  for (const auto& [name, values] : expected) {
    const auto other = actual.find(name);
    if (other == actual.end() || values.empty()) return std::numeric_limits<double>::infinity();
    worst.add(test::largest_relative_error(other->second, values));
  }
  return worst.value();
}

}  // namespace rankscope::testing
