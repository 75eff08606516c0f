// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/prediction.hpp"

#include <exception>

#include "app/session/forecast.hpp"
#include "engine/scenario/read.hpp"
#include "engine/simulate/costs.hpp"

namespace rankscope::app {

Prediction predict(const Scenario& scenario) {
  Prediction prediction;
  prediction.scenario = scenario;
  try {
    check_scenario(scenario);
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
