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

namespace rankscope::app {
namespace {

constexpr double most_ops = 1e6;  // laid out, stored and taken apart in a few seconds

/// Ranks alike by symmetry are one. Throws PlanError for a plan whose ranks are not alike.
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
  prediction.folded = size + ". Shown is one rank of each of the " + std::to_string(step.grid.pipeline) +
                      " stages, folded to a box a chunk and micro-batch: the " +
                      std::to_string(step.grid.tensor * step.grid.data) + " ranks of a stage do the same";
}

}  // namespace

Prediction predict(const Scenario& scenario) {
  Prediction prediction;
  prediction.scenario = scenario;
  try {
    check_scenario(scenario);
    const StepProgram step = compile(scenario);
    if (const double ops = count_ops(step); ops > most_ops || (!is_here(scenario.cluster) && is_folded(step))) {
      fold(step, ops, prediction);
      return prediction;
    }
    prediction.context = std::make_shared<const RunContext>(context_of(scenario));
    RunFacts facts = facts_of_plan(*prediction.context, modelled_costs(scenario, prediction.context->step.model));
    prediction.predicted = *facts.predicted;
    prediction.report = make_report(facts);
    prediction.view = forecast_store(scenario, prediction.context->programs, prediction.predicted.spans);
  } catch (const std::exception& error) {
    prediction = {};
    prediction.scenario = scenario;
    prediction.refusal = error.what();
  }
  return prediction;
}

}  // namespace rankscope::app
