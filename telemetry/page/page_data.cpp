#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "engine/explain/analyse/figure_json.hpp"
#include "engine/explain/facts/prediction.hpp"
#include "engine/lesson/handout/markdown.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/read.hpp"
#include "telemetry/page/page.hpp"
#include "telemetry/page/page_kind.hpp"

namespace rankscope {
namespace {

using nlohmann::json;

constexpr std::array every_obtained = {Obtained::measured, Obtained::emulated, Obtained::simulated};
constexpr std::array<std::string_view, span_class_count> class_words = {
    "forward", "backward", "weight gradient", "recompute", "send, receive", "collective", "optimizer", "other"};
constexpr std::array causes = {BubbleCause::warm_up,
                               BubbleCause::first_gradient,
                               BubbleCause::cool_down,
                               BubbleCause::schedule,
                               BubbleCause::peers,
                               BubbleCause::imbalance,
                               BubbleCause::exposed_communication,
                               BubbleCause::straggler,
                               BubbleCause::workers,
                               BubbleCause::overhead,
                               BubbleCause::unknown};

/// The origins of a run's spans, that of its headline first.
std::vector<Obtained> kinds_of(const StoreView& run, Obtained headline, const PageOptions& options) {
  std::vector<Obtained> kinds;
  for (const Obtained one : every_obtained)
    if (!run.steps(one).empty() && (!options.obtained || *options.obtained == one)) kinds.push_back(one);
  std::stable_partition(kinds.begin(), kinds.end(), [&](Obtained one) { return one == headline; });
  return kinds;
}

std::string words_of(Obtained obtained, const Report& report) {
  switch (obtained) {
    case Obtained::measured: return "measured, wall clock";
    case Obtained::emulated: return "emulated: measured costs on the device clock";
    case Obtained::simulated: return "simulated: costs of " + (report.costs.empty() ? "a model" : report.costs);
  }
  return "";
}

std::string about(const Hello& hello, const Report& report, const std::string& file) {
  const PlanSpec& p = report.plan;
  std::string words = fmt::format("{}: data {} × tensor {} × pipeline {}, {}, {}, {}.", counted(report.ranks, "rank"),
                                  p.data, p.tensor, p.pipeline, p.schedule.name(),
                                  counted(p.micro_batches, "micro-batch", ending_es), p.precision.name());
  if (report.obtained == Obtained::simulated)
    words += " Simulated: nothing ran.";
  else
    words += fmt::format(" Run on {}, by {}{}.", hello.device, hello.communicator,
                         hello.started_utc.empty() ? "" : ", begun " + hello.started_utc);
  if (report.folded) words += " Each row is one rank of a stage; all ranks of a stage are identical.";
  return file.empty() ? words : words + " From the recording " + file + ".";
}

/// The figures of the report, with the base of each share.
json figures_of(const Report& report) {
  json figures = json::array();
  const auto add = [&](const char* id, const std::string& name, const std::string& value, const std::string& of) {
    if (value != figure::dash) figures.push_back({{"id", id}, {"name", name}, {"value", value}, {"of", of}});
  };
  const StepAnalysis* step = report.representative ? &*report.representative : nullptr;
  const std::string of_all =
      step != nullptr ? fmt::format("of the step time × {}, step {}", counted(step->workers, "rank"), step->step)
                      : "of the step time × ranks";
  const std::string how(name_of(report.obtained));
  add("bubble", "bubble, " + how, figure::percent(report.bubble.measured), of_all);
  add("bubble-predicted", "bubble, predicted", figure::percent(report.bubble.predicted),
      "of the step time × ranks, simulated");
  add("bubble-ideal", "bubble, ideal", figure::percent(report.bubble.ideal),
      "by the formula, of the step time × ranks");
  add("bubble-span", "bubble_span, " + how, figure::percent(report.bubble_span.measured),
      "of each rank's first to last op");
  add("step-seconds", "step, " + how, figure::duration(report.step_seconds),
      report.obtained == Obtained::simulated
          ? "nothing ran"
          : fmt::format("median of the {}", counted(report.steady_steps, "steady step")));
  add("mfu", "MFU", figure::percent(report.mfu), "model FLOPs, share of a device's peak");
  add("hfu", "HFU", figure::percent(report.hfu), "with recomputation, share of a device's peak");
  return figures;
}

std::string limits_of(const std::vector<PageSteps>& kinds, std::size_t most_spans) {
  for (const PageSteps& steps : kinds)
    if (steps.shown.size() < steps.all.size())
      return fmt::format(
          "The recording has {}; this page shows the last {} (from step {}): {} spans; more than {} would "
          "make it slow. The figures are for the whole recording. Other steps: rankscope-trace cut "
          "--steps FIRST:LAST, and then export.",
          counted(std::ssize(steps.all), "step"), steps.shown.size(), steps.shown.front(), steps.spans, most_spans);
  return "";
}

/// For a folded prediction, the mean over all ranks is known, and all steps are identical.
void add_folded_shares(json& kind, const Report& report) {
  if (!report.folded || !report.predicted) return;
  json shares = json::array();
  for (int t = 0; t < time_class_count; ++t) shares.push_back(figure::known(report.time[static_cast<TimeClass>(t)]));
  for (json& step : kind["steps"]) {
    step["workers"] = report.predicted->workers;
    step["bubble"] = figure::known(report.bubble.predicted);
    step["shares"] = shares;
  }
}

/// A run's programs; null of a folded prediction, whose ranks represent others.
std::optional<RunContext> context_for(const StoreView& run) {
  const Hello& hello = *run.hello();
  if (hello.ranks < parse_recorded_scenario(hello.scenario_toml).plan.ranks()) return std::nullopt;
  return context_of(run);
}

}  // namespace

json page_data(const StoreView& run, const PageOptions& options) {
  const Report report = report_of(run);
  const std::vector<Obtained> obtained = kinds_of(run, report.obtained, options);
  if (obtained.empty()) throw std::invalid_argument("it contains no spans to draw");
  const std::optional<RunContext> context = context_for(run);
  std::map<std::uint32_t, double> losses;
  for (const StepRow& row : report.steps)
    if (std::isfinite(row.loss)) losses[row.step] = row.loss;

  PageOps ops(options);
  std::vector<PageSteps> steps;
  json kinds = json::array();
  for (const Obtained one : obtained) {
    steps.push_back(choose_steps(run, one, options.most_spans));
    kinds.push_back(page_kind(run, steps.back(), context ? &*context : nullptr, losses, words_of(one, report), ops));
    add_folded_shares(kinds.back(), report);
  }
  json lanes = json::array(), times = json::array(), cause_words = json::array();
  for (int lane = 0; lane < lane_count; ++lane) lanes.push_back(spaced(name_of(static_cast<Lane>(lane))));
  for (int t = 0; t < time_class_count; ++t) times.push_back(name_of(static_cast<TimeClass>(t)));
  for (const BubbleCause cause : causes) cause_words.push_back(spaced(name_of(cause)));
  return {{"title", report.title},
          {"about", about(*run.hello(), report, options.file)},
          {"limits", limits_of(steps, options.most_spans)},
          {"figures", figures_of(report)},
          {"representative", report.representative ? json(report.representative->step) : json(nullptr)},
          {"denominator",
           "Shares are of the step time × ranks (without parameter servers): every moment of every rank's compute "
           "lane is in one class, and the sum is 100 %. bubble_span counts from the first to the last op of each rank. "
           "Moving "
           "bytes that no compute covers is shown by purpose."},
          {"lesson", options.lesson.empty() ? "" : with_folded_answers(html_of(options.lesson))},
          {"kinds", std::move(kinds)},
          {"ops", ops.ops()},
          {"bytes", ops.bytes()},
          {"lanes", std::move(lanes)},
          {"times", std::move(times)},
          {"classes", class_words},
          {"causes", std::move(cause_words)}};
}

}  // namespace rankscope
