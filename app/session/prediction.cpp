// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/prediction.hpp"

#include <cmath>
#include <exception>
#include <string>

#include "app/session/forecast.hpp"
#include "engine/facts/prediction.hpp"
#include "engine/scenario/read.hpp"
#include "engine/simulate/costs.hpp"
#include "engine/simulate/folded.hpp"
#include "engine/simulate/lost_node.hpp"

namespace rankscope::app {
namespace {

constexpr double most_ops = 1e6;  // laid out, stored and taken apart in a few seconds

/// Ranks that are identical by symmetry are one. Throws PlanError for a plan that has none.
void fold(const StepProgram& step, double ops, Prediction& prediction) {
  const Scenario& scenario = step.scenario;
  const std::string ranks = std::to_string(step.grid.size()) + " ranks";
  const std::string size = ops > most_ops ? "The programs of this plan's " + ranks + " have some " +
                                                std::to_string(std::llround(ops / 1e6)) +
                                                " million ops, too many to be run or shown here"
                                          : "This plan's " + ranks + " are of a machine that is not here";
  if (!is_folded(step)) throw PlanError(size + ", and one rank cannot stand for others: " + why_not_folded(scenario));
  prediction.report = predict_step(step);
  prediction.view = folded_store(scenario, prediction.report.step_seconds);
  const bool one = step.grid.pipeline == 1;
  const std::string shown = ". Shown is one rank of " +
                            (one ? "the one stage" : "each of the " + std::to_string(step.grid.pipeline) + " stages");
  const std::string boxes = "; each box is one chunk of one micro-batch; ";
  const int slow = scenario.fault.slow_rank;
  prediction.folded = slow < 0 ? size + shown + boxes + "the " + std::to_string(step.grid.tensor * step.grid.data) +
                                     (one ? " ranks are identical" : " ranks of a stage are identical")
                               : size + shown + " of replica " + std::to_string(shown_replica(scenario)) +
                                     ", which has the slow rank " + std::to_string(slow) + boxes +
                                     "the other replicas wait for it at the step's end";
}

/// Throws what makes a refusal.
void predict_plan(const Scenario& scenario, Prediction& prediction) {
  check_scenario(scenario);
  const StepProgram step = compile(scenario);
  if (const double ops = count_ops(step); ops > most_ops || (!is_here(scenario.cluster) && is_folded(step)))
    return fold(step, ops, prediction);
  prediction.context = std::make_shared<const RunContext>(context_of(scenario));
  RunFacts facts = facts_of_plan(*prediction.context, modelled_costs(scenario, prediction.context->step.model));
  prediction.predicted = *facts.predicted;
  prediction.report = make_report(facts);
  prediction.view = forecast_store(scenario, prediction.context->programs, prediction.predicted.spans);
}

}  // namespace

std::string why_not_run(const Prediction& prediction) {
  if (!prediction.refusal.empty()) return prediction.refusal;
  if (prediction.lost.empty()) return prediction.folded;
  std::string text = "Predicted is what goes on: " + prediction.lost + ". A run loses no node.";
  if (!prediction.folded.empty()) text += " " + prediction.folded;
  return text;
}

Prediction predict(const Scenario& scenario) {
  Prediction prediction;
  prediction.scenario = scenario;
  try {
    if (const auto after = after_lost_node(scenario)) {
      check_scenario(scenario);
      prediction.lost = what_is_left(*after, scenario.cluster.lost_node);
      prediction.left = after->scenario;
    }
    predict_plan(prediction.left.value_or(scenario), prediction);
  } catch (const std::exception& error) {
    prediction = {};
    prediction.scenario = scenario;
    prediction.refusal = error.what();
  }
  return prediction;
}

}  // namespace rankscope::app
