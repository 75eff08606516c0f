// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/analysis.hpp"

#include "app/models/steps.hpp"
#include "app/session/run_facts.hpp"

namespace rankscope::app {
namespace {

void add_prediction(Figures& figures, const Prediction& prediction) {
  figures.predicted = prediction.report;
  figures.forecast = prediction.report.predicted;
}

/// What a plan that did not run shows: its own predicted step.
void add_predicted_step(Figures& figures, const Prediction& prediction, std::optional<std::uint32_t> step) {
  const auto steps = prediction.view->steps(Obtained::simulated);
  if (steps.empty()) return;
  const std::uint32_t number = step && *step <= steps.back() ? *step : steps.back();
  figures.step_spans = prediction.view->step_spans(Obtained::simulated, number);
}

void add_run(Figures& figures, const AnalysisRequest& request, const InsightContext& context) {
  const StoreView& run = *request.run;
  figures.run = make_report(facts_of(run, *request.scenario, context.programs, request.prediction.get()));
  const Obtained obtained = headline_of(run);
  const auto last = last_whole_step(run, obtained);
  const std::uint32_t step = request.step.value_or(last.value_or(0));
  if (last) {
    figures.step = analyse_in(run, context.programs, context.grid, obtained, step);
    figures.step_spans = run.step_spans(obtained, step);
  }
  for (int rank = 0; rank < context.grid.size(); ++rank)
    for (const StepSummary& summary : run.summaries(rank))
      if (summary.step == step) figures.summaries.push_back(summary);
  if (figures.step && figures.forecast) figures.gap = explain_gap(*figures.forecast, *figures.step);
}

bool has_data(const StoreView* run) { return run != nullptr && run->hello() != nullptr && run->event_count() > 0; }

}  // namespace

Analysis analyse(const AnalysisRequest& request) {
  auto figures = std::make_shared<Figures>();
  auto context = std::make_shared<InsightContext>();
  figures->scenario = request.scenario;
  context->prediction = request.prediction;
  const bool predicted = request.prediction && request.prediction->refusal.empty();
  if (predicted) add_prediction(*figures, *request.prediction);
  if (has_data(request.run.get()) && request.scenario) {
    const PlanSpec& plan = request.scenario->plan;
    context->grid = {plan.tensor, plan.data, plan.pipeline};
    context->programs =
        request.known && !request.known->programs.empty() ? request.known->programs : programs_of(*request.run);
    add_run(*figures, request, *context);
  } else if (predicted) {
    context->grid = request.prediction->grid;
    context->programs = request.prediction->programs;
    add_predicted_step(*figures, *request.prediction, request.step);
  }
  return {request.run_number, std::move(figures), std::move(context)};
}

}  // namespace rankscope::app
