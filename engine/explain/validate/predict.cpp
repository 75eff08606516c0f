// Predicts each published quantity of a scenario.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "engine/explain/analyse/step_analysis.hpp"
#include "engine/explain/validate/validate.hpp"
#include "engine/op/not_known.hpp"
#include "engine/plan/model/model.hpp"
#include "engine/plan/program/compile.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/fold/folded.hpp"
#include "engine/predict/fold/plan_folder.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "engine/predict/network/library_lists.hpp"

namespace rankscope {
namespace {

double program_seconds(const Scenario& s) {
  const StepProgram step = compile(s);
  const std::vector<RankProgram> programs = step.all_programs();
  const int steps = predicted_steps(programs);
  const Simulation simulation = simulate(programs, step.grid, modelled_costs(s, step.model), steps);
  const TimeRange range =
      step_range(simulation.spans, static_cast<std::uint32_t>(steady_step(static_cast<std::size_t>(steps))));
  return static_cast<double>(range.end_ns - range.begin_ns) * 1e-9;
}

double all_reduce_seconds(const Scenario& s, double bytes) {
  std::vector<int> ranks(s.plan.data);
  std::iota(ranks.begin(), ranks.end(), 0);
  // Transfer by transfer: a closed form is not needed for few ranks.
  const auto by = [&](Route route) {
    return listed_seconds(s.cluster, s.plan.grid(), route, OpKind::all_reduce, ranks, bytes);
  };
  return std::min(by(Route::ring), by(Route::tree));
}

/// Without parameters that tensor ranks have twice.
Model whole_model(Scenario s) {
  s.plan.tensor = 1;
  s.plan.sequence_parallel = false;
  return make_model(s);
}

double parameters_of(const Scenario& s) { return static_cast<double>(whole_model(s).parameter_count()); }

/// Bytes of a parameter in the computing type, of its reduced gradient, and of the optimizer's states.
BytesPerParameter bytes_per_parameter(const Scenario& s) {
  const Model model = whole_model(s);
  const StageParameters all = parameters_of_stages(s, model, {0}, {0, static_cast<int>(model.segments.size())}).front();
  return {static_cast<double>(bytes_of(model.type)), gradient_bytes(s.cluster, model.type),
          all.state_bytes / all.elements};
}

bool fits_host(const std::vector<StageMemory>& stages, const ClusterSpec& cluster) {
  if (cluster.host_memory_bytes <= 0) return true;
  return std::all_of(stages.begin(), stages.end(), [&](const StageMemory& stage) {
    return static_cast<double>(stage.peak_by_class[static_cast<std::size_t>(MemoryClass::host)]) <=
           cluster.host_memory_bytes;
  });
}

/// The largest number of blocks in each chunk with which every device has enough memory; 0 if one is too many.
double largest_parameters(Scenario s) {
  const int chunks = s.plan.chunks();
  const auto fits = [&](int blocks) {
    s.model.layers = blocks * chunks;
    const std::vector<StageMemory> memory = fold_step(s).memory;
    return bytes_of_fullest(memory, s.cluster) <= s.cluster.memory_bytes && fits_host(memory, s.cluster);
  };
  int most = 0, beyond = 1;
  while (fits(beyond)) most = std::exchange(beyond, 2 * beyond);
  while (beyond - most > 1) {
    const int middle = (most + beyond) / 2;
    (fits(middle) ? most : beyond) = middle;
  }
  if (most == 0) return 0;
  s.model.layers = most * chunks;
  return parameters_of(s);
}

}  // namespace

double predict(const Scenario& s, Quantity quantity, const PublishedRow& row) {
  const auto samples_per_second = [&] { return s.train.global_batch / fold_step(s).seconds; };
  switch (quantity) {
    case Quantity::step_seconds: return fold_step(s).seconds;
    case Quantity::span_seconds: return fold_step(s).longest_span;
    case Quantity::program_seconds: return program_seconds(s);
    case Quantity::block_forward_seconds: return fold_block(s).forward_seconds();
    case Quantity::block_backward_seconds: return fold_block(s).backward_seconds();
    case Quantity::all_reduce_seconds: return all_reduce_seconds(s, row.bytes);
    case Quantity::peak_bytes: return bytes_of_fullest(fold_step(s).memory, s.cluster, &StageMemory::peak);
    case Quantity::reserved_bytes: return bytes_of_fullest(fold_step(s).memory, s.cluster);
    case Quantity::block_kept_bytes:
      return kept_by_block(make_model(s), s.cluster, s.plan.recompute == Recompute::selective).tensors;
    case Quantity::hardware_share: return fold_step(s).hfu(s.cluster, s.compute_type(), s.plan.ranks());
    case Quantity::model_share: return fold_step(s).mfu(s.cluster, s.compute_type(), s.plan.ranks());
    case Quantity::hardware_flops_rate: {
      const FoldedStep step = fold_step(s);
      return step.hardware_flops / (step.seconds * s.plan.ranks());
    }
    case Quantity::model_flops_rate: {
      const FoldedStep step = fold_step(s);
      return step.model_flops / (step.seconds * s.plan.ranks());
    }
    case Quantity::samples_per_second:
    case Quantity::fastest_micro_batch: return samples_per_second();
    case Quantity::samples_per_device_second: return samples_per_second() / s.plan.ranks();
    case Quantity::bubble_of_times: return fold_bubble_of_times(s);
    case Quantity::training_seconds: return fold_step(s).seconds * steps_of(row, s);
    case Quantity::device_hours: return fold_step(s).seconds * s.plan.ranks() * steps_of(row, s);
    case Quantity::device_joules: {
      const FoldedStep step = fold_step(s);
      return step.seconds * s.plan.ranks() * steps_of(row, s) * s.cluster.average_watts(step.bubble / step.seconds);
    }
    case Quantity::largest_parameters: return largest_parameters(s);
    case Quantity::parameters_by_states: {
      const double each = model_states(1, bytes_per_parameter(s), s.plan.zero, s.plan.data).sum();
      return s.cluster.memory_bytes / each * s.plan.tensor * s.plan.pipeline;
    }
    case Quantity::checkpoint_bytes: {
      const BytesPerParameter each = bytes_per_parameter(s);
      return parameters_of(s) * (each.parameter + each.states);
    }
    case Quantity::state_bytes:
      return model_states(row.parameters, bytes_per_parameter(s), s.plan.zero, s.plan.data).sum();
  }
  return not_known;
}

std::vector<double> predictions(Quantity quantity, const PublishedRow& row) {
  std::vector<double> values;
  for (std::size_t i = 0; i < row.choices.size(); ++i) {
    const double value = predict(row.choices[i], quantity, row);
    values.push_back(row.against.empty() ? value : value / predict(row.against[i], quantity, row));
  }
  if (quantity != Quantity::fastest_micro_batch) return values;
  const auto fastest = std::max_element(values.begin(), values.end()) - values.begin();
  return {static_cast<double>(row.choices[fastest].micro_batch_size())};
}

}  // namespace rankscope
