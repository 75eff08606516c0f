// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/prediction.hpp"

#include <fmt/format.h>

#include <exception>
#include <limits>

#include "app/session/forecast.hpp"
#include "engine/execute/run/scratch.hpp"
#include "engine/explain/facts/forecast.hpp"
#include "engine/explain/facts/prediction.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/lost_node.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/predict/fold/folded.hpp"

namespace rankscope::app {
namespace {

constexpr double most_ops = 1e6;  // simulated, stored and analysed in a few seconds

bool folds(const StepProgram& step) {
  return count_ops(step) > most_ops || (!is_here(step.scenario.cluster) && is_folded(step));
}

std::string size_words(const StepProgram& step) {
  const std::string ranks = counted(step.grid.size(), "rank");
  const double ops = count_ops(step);
  return ops > most_ops ? fmt::format(
                              "The programs of this plan's {} have about {:.0f} million ops, too many to run or "
                              "show here",
                              ranks, ops / 1e6)
                        : fmt::format("This plan's {} belong to a machine that is not here", ranks);
}

/// The shown data of ranks that are identical by symmetry.
std::string what_is_shown(const StepProgram& step) {
  const bool one = step.grid.pipeline == 1;
  const std::string shown = one ? "the one stage" : "each of the " + counted(step.grid.pipeline, "stage");
  const std::string boxes = "; each box is one chunk of one micro-batch; ";
  const int slow = step.scenario.fault.slow_rank;
  if (slow < 0)
    return fmt::format("{}. One rank of {} is shown{}the {} {} identical", size_words(step), shown, boxes,
                       step.grid.tensor * step.grid.data, one ? "ranks are" : "ranks of a stage are");
  return fmt::format(
      "{}. One rank of {} of replica {} is shown, with the slow rank {}{}the other replicas wait for "
      "it at the end of the step",
      size_words(step), shown, shown_replica(step.scenario), slow, boxes);
}

/// Throws the reason if the plan is refused.
void predict_plan(const Scenario& asked, Prediction& prediction) {
  const Scenario& left = prediction.left ? *prediction.left : asked;
  check_scenario(left);
  const StepProgram step = compile(left);
  if (folds(step) && !is_folded(step))
    throw PlanError(size_words(step) + ", and one rank cannot stand for others: " + why_not_folded(left));
  StepPrediction predicted =
      predict_with_facts(asked, add_host_scratch, {}, folds, std::numeric_limits<double>::infinity());
  prediction.report = std::move(predicted.report);
  if (!predicted.context) {
    prediction.folded = what_is_shown(step);
    prediction.view = folded_store(left, prediction.report.step_seconds);
    return;
  }
  prediction.context = predicted.context;
  prediction.predicted = std::move(*predicted.facts->predicted);
  prediction.view = forecast_store(left, prediction.context->programs, prediction.predicted.spans);
}

}  // namespace

std::string why_not_run(const Prediction& prediction) {
  if (!prediction.refusal.empty()) return prediction.refusal;
  if (prediction.lost.empty()) return prediction.folded;
  std::string text = "The prediction is for the remaining ranks: " + prediction.lost + ". A run cannot lose a node.";
  if (!prediction.folded.empty()) text += " " + prediction.folded;
  return text;
}

Prediction predict(const Scenario& scenario) {
  Prediction prediction;
  prediction.scenario = scenario;
  try {
    if (const auto after = after_lost_node(scenario)) {
      check_scenario(scenario);
      prediction.lost = describe_after_loss(*after, scenario.cluster.lost_node);
      prediction.left = after->scenario;
    }
    predict_plan(scenario, prediction);
  } catch (const std::exception& error) {
    prediction = {};
    prediction.scenario = scenario;
    prediction.refusal = error.what();
  }
  return prediction;
}

}  // namespace rankscope::app
