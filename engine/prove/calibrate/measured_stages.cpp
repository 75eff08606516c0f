#include "engine/prove/calibrate/measured_stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/cost/part_costs.hpp"
#include "engine/prove/calibrate/calibrate.hpp"

namespace rankscope {
namespace {

/// In twentieths of the mean block, the accuracy of a measurement. Of splits equal at this accuracy, the one with
/// the greater chunks first is chosen, which has shorter waits at a step's begin and end.
PartCosts in_twentieths(const PartCosts& costs) {
  constexpr double unit = 20;
  const double block =
      std::accumulate(costs.blocks.begin(), costs.blocks.end(), 0.0) / static_cast<double>(costs.blocks.size());
  if (block <= 0) return costs;
  const auto rounded = [&](double cost) { return std::round(unit * cost / block); };
  PartCosts parts{{}, rounded(costs.first), rounded(costs.last)};
  for (const double each : costs.blocks) parts.blocks.push_back(rounded(each));
  return parts;
}

SettledStages settle(const Scenario& scenario, bool measured, const StepProgram& one_stage, const Costs& costs) {
  SettledStages settled{scenario, cost_of_parts(one_stage, costs), measured};
  PartCosts& seconds = settled.seconds;
  for (double& block : seconds.blocks) block *= 1e-9;
  seconds.first *= 1e-9;
  seconds.last *= 1e-9;
  const std::vector<int> blocks = balanced_blocks(in_twentieths(seconds), scenario.plan.chunks());
  settled.scenario.plan.stages = fmt::format("{}", fmt::join(blocks, " "));
  return settled;
}

}  // namespace

SettledStages measure_stages(const Scenario& scenario, std::shared_ptr<const Platform> platform) {
  const StepProgram one_stage = compile(as_one_stage(scenario));
  return settle(scenario, true, one_stage, predict_costs(one_stage, std::move(platform)));
}

SettledStages model_stages(const Scenario& scenario) {
  const StepProgram one_stage = compile(as_one_stage(scenario));
  return settle(scenario, false, one_stage, modelled_costs(one_stage.scenario, one_stage.model));
}

std::string to_text(const SettledStages& settled) {
  const PartCosts& seconds = settled.seconds;
  const auto [least, greatest] = std::minmax_element(seconds.blocks.begin(), seconds.blocks.end());
  const ModelSpec& model = settled.scenario.model;
  const std::string blocks = model.is_resnet()
                                 ? fmt::format("blocks take {:.3f} to {:.3f} ms", 1e3 * *least, 1e3 * *greatest)
                                 : fmt::format("a block takes {:.3f} ms", 1e3 * *least);
  return fmt::format(
      "stages = \"{}\": of a micro-batch {}, the {} {:.3f} ms, the {} {:.3f} ms, {}", settled.scenario.plan.stages,
      blocks, model.front_word(), 1e3 * seconds.first, model.end_word(), 1e3 * seconds.last,
      settled.measured ? std::string("measured on this machine")
                       : "modelled from the figures of cluster '" + settled.scenario.cluster.label() + "'");
}

}  // namespace rankscope
