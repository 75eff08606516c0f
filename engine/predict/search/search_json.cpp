#include <nlohmann/json.hpp>

#include "engine/predict/search/search.hpp"

namespace rankscope {
namespace {

using Json = nlohmann::json;

Json result_json(const PlanResult& r) {
  const double whole = r.step.seconds;
  return {{"plan",
           {{"data", r.plan.data},
            {"tensor", r.plan.tensor},
            {"pipeline", r.plan.pipeline},
            {"virtual", r.plan.virtual_stages},
            {"schedule", r.plan.schedule.name()},
            {"micro_batches", r.plan.micro_batches},
            {"zero", r.plan.zero},
            {"recompute", r.plan.recompute.name()},
            {"recompute_blocks", r.plan.recompute_blocks},
            {"stages", r.plan.stages},
            {"sequence_parallel", r.plan.sequence_parallel}}},
          {"step_seconds", whole},
          {"device_bytes", r.bytes},
          {"time",
           {{"compute", r.step.compute / whole},
            {"recompute", r.step.recompute / whole},
            {"tensor", r.step.tensor / whole},
            {"pipeline", r.step.pipeline / whole},
            {"data", r.step.data / whole},
            {"zero", r.step.zero / whole},
            {"optimizer", r.step.optimizer / whole},
            {"bubble", r.step.bubble / whole},
            {"other", 0}}}};
}

Json list(const std::vector<PlanResult>& results) {
  Json all = Json::array();
  for (const PlanResult& r : results) all.push_back(result_json(r));
  return all;
}

}  // namespace

nlohmann::json to_json(const SearchResult& result) {
  Json runner_up = nullptr;
  if (result.best.size() > 1) {
    runner_up = Json::array();
    for (const LostTime& lost : why_slower(result.best[0].step, result.best[1].step))
      runner_up.push_back({{"part", name_of(lost.part)}, {"seconds", lost.seconds}});
  }
  return {{"ranks", result.ranks},
          {"plans", result.plans},
          {"simulated", result.simulated},
          {"out_of_memory", result.out_of_memory},
          {"device_bytes", result.device_bytes},
          {"search_seconds", result.seconds},
          {"best", list(result.best)},
          {"front", list(result.front)},
          {"nearest", result.nearest ? result_json(*result.nearest) : Json(nullptr)},
          {"runner_up_loses", std::move(runner_up)}};
}

}  // namespace rankscope
