#include "engine/worker/lesson_predictions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/execute/run/scratch.hpp"
#include "engine/explain/analyse/report_value.hpp"
#include "engine/explain/facts/forecast.hpp"
#include "engine/lesson/handout/words.hpp"
#include "engine/plan/scenario/keys.hpp"
#include "engine/plan/scenario/lost_node.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/predict/network/network.hpp"
#include "engine/worker/paths.hpp"
#include "engine/worker/stages.hpp"

namespace rankscope {
namespace {

/// Pictures are drawn from the events of a simulated run.
struct SimulatedEvents {
  std::vector<Span> spans;
  std::vector<MemorySample> samples;
  int ranks = 0;

  EventPublisher publisher() {
    return [this](int, Event event) {
      if (auto* hello = std::get_if<Hello>(&event)) ranks = hello->ranks;
      if (auto* batch = std::get_if<SpanBatch>(&event))
        spans.insert(spans.end(), batch->rows.begin(), batch->rows.end());
      if (auto* batch = std::get_if<MemoryBatch>(&event))
        samples.insert(samples.end(), batch->rows.begin(), batch->rows.end());
    };
  }
};

const std::vector<std::string> no_settings;

/// With the surface's values for those that the lesson omits.
PathRequest completed(const PathRequest& asked) {
  PathsInput input;
  input.surface = asked.surface;
  input.condition = asked.condition;
  input.noise = asked.noise;
  input.steps = asked.steps;
  input.seed = asked.seed;
  input.set = asked.settings;
  input.optimizers = asked.optimizers;
  for (const auto& [optimizer, rate] : asked.rates) input.rates.push_back(optimizer + "=" + plain(rate));
  return path_request(input);
}

}  // namespace

const LessonPredictions::Prediction& LessonPredictions::of(const Lab& lab, const std::vector<std::string>& settings) {
  std::string name = lab.file;
  for (const std::string& setting : settings) name += "\n" + setting;
  auto& found = known_[name];
  if (!found) {
    std::vector<Override> overrides;
    for (const std::string& setting : settings) overrides.push_back(parse_override(setting));
    Prediction prediction;
    prediction.scenario = with_stages(read_scenario(lab.file, overrides), false);
    prediction.step = predict_with_facts(prediction.scenario, add_host_scratch);
    found = std::make_shared<const Prediction>(std::move(prediction));
  }
  return *found;
}

std::optional<double> LessonPredictions::value(const Lab& lab, const Question& question) {
  std::optional<double> value;
  if (question.paths)
    value = value_at(to_json(walk_paths(completed(*question.paths))), question.answer_from);
  else
    value = simulated_value_at(of(lab, question.variant ? question.variant->settings : no_settings).step.report,
                               question.answer_from);
  return value ? std::optional(*value * question.scale) : std::nullopt;
}

std::vector<double> LessonPredictions::series(const Lab& lab, const Question& question) {
  // A prediction's per-step values are of one step.
  if (question.paths || question.answer_from.starts_with("steps.")) return {};
  const Prediction& predicted = of(lab, question.variant ? question.variant->settings : no_settings);
  std::vector<double> series = simulated_series_at(predicted.step.report, question.answer_from);
  for (double& one : series) one *= question.scale;
  return series;
}

const Scenario& LessonPredictions::scenario(const Lab& lab) { return of(lab, no_settings).scenario; }

ClickedPlaces LessonPredictions::places(const Lab& lab) {
  const Scenario& of_lab = scenario(lab);
  ClickedPlaces places{of_lab.plan.ranks(), {}};
  for (const NetworkLevel& level : network_levels(of_lab.cluster))
    places.levels.emplace_back(name_of(level.unit), (places.ranks + level.devices - 1) / level.devices);
  return places;
}

std::vector<Picture> LessonPredictions::pictures(const Lab& lab) {
  if (lab.view == "paths") return {};  // the lesson is not about the scenario's training
  const Prediction& predicted = of(lab, no_settings);
  const Scenario& scenario = predicted.scenario;
  SimulatedEvents events;
  const bool folded = !predicted.step.facts;
  constexpr int most_stages = 256;
  if (folded && scenario.plan.pipeline > most_stages) return {};
  const auto after = after_lost_node(scenario);
  if (folded)
    publish_folded_forecast(after ? after->scenario : scenario, predicted.step.report.step_seconds, events.publisher());
  else
    publish_forecast(after ? after->scenario : scenario, predicted.step.facts->programs,
                     predicted.step.facts->predicted->spans, events.publisher());
  DrawnStep step;
  std::uint32_t last = 0;
  for (const Span& span : events.spans) last = std::max(last, span.step);
  step.step = static_cast<std::uint32_t>(steady_step(last + 1));
  step.range = step_range(events.spans, step.step);
  if (step.range.empty()) return {};
  step.spans = std::move(events.spans);
  step.samples = std::move(events.samples);
  step.ranks = events.ranks;
  step.language = lab.language;
  step.note =
      fmt::format(fmt::runtime(handout_words("simulated, costs of {}", lab.language)), predicted.step.report.costs);
  if (folded) step.note += handout_words("; rank s is one of the identical ranks of stage s", lab.language);
  std::vector<Picture> pictures{draw_timeline(step), draw_memory(step)};
  std::erase_if(pictures, [](const Picture& picture) { return picture.svg.empty(); });
  return pictures;
}

}  // namespace rankscope
