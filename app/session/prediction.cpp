// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/prediction.hpp"

#include <cmath>
#include <exception>
#include <string>

#include "app/session/forecast.hpp"
#include "engine/facts/prediction.hpp"
#include "engine/scenario/read.hpp"
#include "engine/simulate/costs.hpp"

namespace rankscope::app {
namespace {

constexpr double most_ops = 1e6;  // laid out, stored and taken apart in a few seconds

}  // namespace

Prediction predict(const Scenario& scenario) {
  Prediction prediction;
  prediction.scenario = scenario;
  try {
    check_scenario(scenario);
    if (const double ops = count_ops(compile(scenario)); ops > most_ops)
      throw PlanError("This plan's programs have some " + std::to_string(std::llround(ops / 1e6)) +
                      " million ops, too many for the time line. `rankscope-engine simulate` folds ranks that are "
                      "alike, and tells its step, memory and tokens/s.");
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
