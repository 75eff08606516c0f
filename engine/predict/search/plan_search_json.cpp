#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/predict/search/plan_search.hpp"

namespace rankscope {
namespace {

using Json = nlohmann::json;

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json point_json(const PlanPoint& point) {
  return {{"number", point.number},
          {"fate", name_of(point.fate)},
          {"step_seconds", number_or_null(point.seconds)},
          {"device_bytes", number_or_null(point.bytes)},
          {"parts", point.parts},
          {"values", point.values},
          {"together", point.together}};
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
      runner_up.push_back({{"part", name_of(lost.part)}, {"seconds", lost.seconds}});
  }
  return {{"strategy", name_of(report.strategy)},
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

}  // namespace rankscope
