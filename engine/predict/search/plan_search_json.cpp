#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "engine/predict/search/plan_search.hpp"

namespace rankscope {
namespace {

using Json = nlohmann::json;

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
double number_of(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

Json point_json(const PlanPoint& point) {
  return {{"number", point.number},
          {"fate", name_of(point.fate)},
          {"step_seconds", number_or_null(point.seconds)},
          {"device_bytes", number_or_null(point.bytes)},
          {"parts", point.parts},
          {"values", point.values},
          {"together", point.together}};
}

PlanPoint point_of(const Json& json, const std::vector<Knob>& knobs) {
  PlanPoint point;
  point.number = json.at("number");
  const std::string fate = json.at("fate");
  for (const Fate one : {Fate::fits, Fate::out_of_memory, Fate::refused})
    if (name_of(one) == fate) point.fate = one;
  point.seconds = number_of(json.at("step_seconds"));
  point.bytes = number_of(json.at("device_bytes"));
  point.parts = json.at("parts").get<StepParts>();
  point.values = json.at("values").get<std::vector<int>>();
  point.together = json.at("together");
  bool whole = point.values.size() == knobs.size();
  for (std::size_t k = 0; whole && k < knobs.size(); ++k)
    whole = point.values[k] >= 0 && point.values[k] < static_cast<int>(knobs[k].values.size());
  if (!whole) throw std::invalid_argument("a point's values are not those of the knobs");
  return point;
}

std::size_t index_of(const Json& json, const std::vector<PlanPoint>& points) {
  const std::size_t index = json;
  if (index >= points.size()) throw std::invalid_argument("there is no point " + std::to_string(index));
  return index;
}

PlanSearchReport report_of(const Json& json) {
  PlanSearchReport report;
  report.strategy = json.at("strategy");
  report.judged = json.at("judged");
  report.seed = json.at("seed");
  report.ranks = json.at("ranks");
  report.global_batch = json.at("global_batch");
  report.device_bytes = json.at("device_bytes");
  report.plans = json.at("plans");
  report.tried = json.at("tried");
  report.out_of_memory = json.at("out_of_memory");
  report.refused = json.at("refused");
  for (const Json& knob : json.at("knobs"))
    report.knobs.push_back({knob.at("name"), knob.at("values"), knob.at("ordered")});
  for (const Json& one : json.at("importance")) report.importance.push_back(one.at("share"));
  report.importance_is_exact = json.at("importance_is_exact");
  for (const Json& point : json.at("points")) report.points.push_back(point_of(point, report.knobs));
  for (const Json& index : json.at("best")) report.best.push_back(index_of(index, report.points));
  for (const Json& index : json.at("front")) report.front.push_back(index_of(index, report.points));
  for (const Json& step : json.at("trajectory"))
    report.trajectory.push_back({step.at("tried"), index_of(step.at("point"), report.points)});
  report.seconds = json.at("search_seconds");
  return report;
}

}  // namespace

nlohmann::json to_json(const PlanSearchReport& report) {
  Json knobs = Json::array(), importance = Json::array(), points = Json::array(), trajectory = Json::array();
  for (const Knob& knob : report.knobs)
    knobs.push_back({{"name", knob.name}, {"values", knob.values}, {"ordered", knob.ordered}});
  for (std::size_t k = 0; k < report.importance.size(); ++k)
    importance.push_back({{"knob", report.knobs[k].name}, {"share", report.importance[k]}});
  for (const PlanPoint& point : report.points) points.push_back(point_json(point));
  for (const Improvement& step : report.trajectory)
    trajectory.push_back(
        {{"tried", step.tried}, {"point", step.point}, {"step_seconds", report.points[step.point].seconds}});
  Json runner_up = nullptr;
  if (report.best.size() > 1) {
    runner_up = Json::array();
    for (const LostTime& lost : why_slower(report.points[report.best[0]].parts, report.points[report.best[1]].parts))
      runner_up.push_back({{"part", lost.part}, {"seconds", lost.seconds}});
  }
  return {{"strategy", report.strategy},
          {"judged", report.judged},
          {"seed", report.seed},
          {"ranks", report.ranks},
          {"global_batch", report.global_batch},
          {"device_bytes", report.device_bytes},
          {"plans", report.plans},
          {"tried", report.tried},
          {"out_of_memory", report.out_of_memory},
          {"refused", report.refused},
          {"knobs", std::move(knobs)},
          {"importance", std::move(importance)},
          {"importance_is_exact", report.importance_is_exact},
          {"points", std::move(points)},
          {"best", report.best},
          {"front", report.front},
          {"trajectory", std::move(trajectory)},
          {"runner_up_loses", std::move(runner_up)},
          {"search_seconds", report.seconds}};
}

PlanSearchReport plan_search_from_json(const std::string& text) {
  try {
    return report_of(Json::parse(text));
  } catch (const Json::exception& error) {
    throw std::invalid_argument(std::string("this is no search's report: ") + error.what());
  }
}

}  // namespace rankscope
