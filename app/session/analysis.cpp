// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/analysis.hpp"

#include <algorithm>

#include "app/models/steps.hpp"
#include "app/session/forecast.hpp"
#include "engine/explain/facts/imported.hpp"
#include "engine/explain/facts/prediction.hpp"

namespace rankscope::app {
namespace {

/// Steps that are analysed for medians: few while the run needs the machine, more after it has ended.
constexpr std::size_t steps_while_running = 8, steps_when_over = 24, least_steps = 3;
constexpr std::size_t most_spans_taken_apart = 300'000;  ///< some tenths of a second

bool has_data(const StoreView* run) { return run != nullptr && run->hello() != nullptr && run->event_count() > 0; }

bool all_programs_arrived(const StoreView& run) {
  for (int rank = 0; rank < run.hello()->ranks; ++rank)
    if (run.program(rank) == nullptr) return false;
  return true;
}

/// The context of a run: its own programs, and the prediction that it sent itself (by the measured figures of the
/// machine), else that of the plan.
InsightContext make_context(const AnalysisRequest& request) {
  const StoreView& run = *request.run;
  InsightContext context;
  context.prediction = request.prediction;
  const Prediction* prediction = request.prediction.get();
  try {
    context.run = std::make_shared<const RunContext>(context_of(run));
  } catch (const std::exception&) {
    return context;  // the spans are shown; only figures that need the programs are unknown
  }
  const auto predicted = run.steps(Obtained::simulated);
  context.complete = all_programs_arrived(run) && !predicted.empty();
  if (!predicted.empty()) {
    std::vector<Span> spans;
    for (const std::uint32_t step : predicted) {
      const auto some = run.step_spans(Obtained::simulated, step);
      spans.insert(spans.end(), some.begin(), some.end());
    }
    context.forecast = forecast_store(context.run->step.scenario, context.run->programs, spans);
  } else if (prediction != nullptr) {
    context.forecast = prediction->view;
  }
  return context;
}

/// Fewer if steps are so large that many of them would delay the tables.
std::size_t steps_taken_apart(const StoreView& run, bool over) {
  const std::size_t steps = std::max<std::size_t>(1, run.steps(headline_of(run)).size());
  const std::size_t spans =
      static_cast<std::size_t>(std::max<std::int64_t>(run.event_count() + run.evicted_count(), 1)) / steps;
  const std::size_t most = over ? steps_when_over : steps_while_running;
  return std::clamp<std::size_t>(most_spans_taken_apart / std::max<std::size_t>(spans, 1), std::min(least_steps, most),
                                 most);
}

void analyse_run(const AnalysisRequest& request, InsightContext& context, Figures& figures) {
  const StoreView& run = *request.run;
  RunFacts facts = facts_of_run(run, *context.run, steps_taken_apart(run, request.over));
  if (!facts.predicted && request.prediction && request.prediction->refusal.empty())
    facts.predicted = request.prediction->predicted;
  figures.run = make_report(facts);
  figures.totals = facts.totals;
  figures.device = run.hello()->device;
  figures.forecast = context.forecast_step = figures.run->predicted;
  context.ideal_bubble = figures.run->bubble.ideal;

  const Obtained obtained = headline_of(run);
  const auto last = last_whole_step(run, obtained);
  const std::uint32_t step = request.step.value_or(last.value_or(0));
  if (const auto range = run.step_range(obtained, step); range && last) {
    figures.step = analyse_step(*context.run->linked, spans_around(run, *context.run, obtained, step), *range, step,
                                context.run->planned());
    figures.step_spans = run.step_spans(obtained, step);
  }
  for (int rank = 0; rank < context.run->step.grid.size(); ++rank)
    if (auto summary = run.summary(rank, step)) figures.summaries.push_back(std::move(*summary));
  if (figures.step && figures.forecast) figures.gap = explain_gap(*figures.forecast, *figures.step);
}

/// Another program's run: no plan, no prediction.
void analyse_import(const AnalysisRequest& request, InsightContext& context, Figures& figures) {
  const StoreView& run = *request.run;
  figures.scenario.reset();  // that of another run
  context.imported = step_facts(run);
  const RunFacts facts = facts_of_import(run, context.imported, steps_taken_apart(run, request.over));
  figures.run = make_report(facts);
  figures.totals = facts.totals;
  figures.device = run.hello()->device;
  const std::uint32_t step = request.step.value_or(last_whole_step(run, Obtained::measured).value_or(0));
  if (auto own = imported_step(run, context.imported, step)) {
    figures.step = analyse_step(*own->linked, own->spans, own->range, step);
    figures.linked = own->linked;
    figures.step_spans = run.step_spans(Obtained::measured, step);
  }
  for (int rank = 0; rank < run.hello()->ranks; ++rank)
    if (auto summary = run.summary(rank, step)) figures.summaries.push_back(std::move(*summary));
}

void analyse_plan(const AnalysisRequest& request, InsightContext& context, Figures& figures) {
  const Prediction& prediction = *request.prediction;
  if (prediction.left) figures.scenario = prediction.left;
  context.run = prediction.context;  // not `complete`: a later run has a context of its own
  figures.forecast = context.forecast_step = prediction.report.predicted;
  context.ideal_bubble = prediction.report.bubble.ideal;
  const auto steps = prediction.view->steps(Obtained::simulated);
  if (steps.empty()) return;
  const std::uint32_t step =
      request.step && *request.step <= steps.back() ? *request.step : steps[steady_step(steps.size())];
  figures.step_spans = prediction.view->step_spans(Obtained::simulated, step);
}

/// A recording of a prediction: its figures are those of a plan that has not run.
void analyse_recorded_forecast(const AnalysisRequest& request, InsightContext& context, Figures& figures) {
  const StoreView& forecast = *request.run;
  try {
    figures.predicted = report_of(forecast);
    if (!figures.predicted->folded) context.run = std::make_shared<const RunContext>(context_of(forecast));
  } catch (const std::exception&) {
    return;  // its spans can be shown without
  }
  figures.forecast = context.forecast_step = figures.predicted->predicted;
  context.ideal_bubble = figures.predicted->bubble.ideal;
  const auto steps = forecast.steps(Obtained::simulated);
  if (steps.empty()) return;
  figures.step_spans = forecast.step_spans(
      Obtained::simulated, std::min(request.step.value_or(steps[steady_step(steps.size())]), steps.back()));
}

}  // namespace

Analysis analyse(const AnalysisRequest& request) {
  auto figures = std::make_shared<Figures>();
  auto context = std::make_shared<InsightContext>();
  figures->scenario = request.scenario;
  context->prediction = request.prediction;
  const bool predicted = request.prediction && request.prediction->refusal.empty();
  if (predicted) figures->predicted = request.prediction->report;
  if (has_data(request.run.get()) && is_imported(*request.run)) {
    analyse_import(request, *context, *figures);
  } else if (has_data(request.run.get()) && is_forecast(*request.run)) {
    analyse_recorded_forecast(request, *context, *figures);
  } else if (has_data(request.run.get())) {
    *context = request.known && request.known->complete ? *request.known : make_context(request);
    context->prediction = request.prediction;
    if (context->run) analyse_run(request, *context, *figures);
  } else if (predicted) {
    analyse_plan(request, *context, *figures);
  }
  figures->context = context->run;
  if (context->run) figures->linked = context->run->linked;
  return {request.run_number, std::move(figures), std::move(context)};
}

}  // namespace rankscope::app
