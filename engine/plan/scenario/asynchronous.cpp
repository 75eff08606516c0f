#include "engine/plan/scenario/asynchronous.hpp"

#include <string>

namespace rankscope {
namespace {

constexpr const char* here = "schedule \"1f1b-async\" ";

Complaint refused(const char* key, const std::string& why) { return {{key, "plan.schedule"}, here + why}; }

/// Features that need a sum over ranks before each update.
std::optional<Complaint> sums_complaint(const Scenario& scenario) {
  const PlanSpec& plan = scenario.plan;
  if (plan.data_parallel != DataParallel::all_reduce)
    return refused("plan.data_parallel", "updates on every stage, and data_parallel = \"" + plan.data_parallel.name() +
                                             "\" elsewhere; use data_parallel = \"all-reduce\"");
  if (plan.data > 1)
    return refused("plan.data",
                   "does not sum the gradient of each micro-batch over replicas; use data = 1, or schedule = \"1f1b\"");
  if (plan.tensor > 1)
    return refused(
        "plan.tensor",
        "does not sum the gradient of each micro-batch over tensor ranks; use tensor = 1, or schedule = \"1f1b\"");
  if (scenario.model.tied && !scenario.model.is_resnet() && plan.pipeline > 1)
    return refused("model.tied",
                   "cannot sum a tied embedding's gradient, since first and last stage update at different times; use "
                   "tied = false, or schedule = \"1f1b\"");
  return std::nullopt;
}

/// Features of a complete step, which has many updates here.
std::optional<Complaint> step_complaint(const Scenario& scenario) {
  const TrainSpec& train = scenario.train;
  if (train.clip > 0)
    return refused("train.clip",
                   "updates a stage before the others have their gradients, so that there is no norm of all to clip "
                   "by; use clip = 0, or schedule = \"1f1b\"");
  if (train.magnitudes_every > 0)
    return refused("train.magnitudes_every",
                   "has no gradient of a whole step whose magnitudes could be counted; use magnitudes_every = 0, or "
                   "schedule = \"1f1b\"");
  if (scenario.plan.precision == Precision::fp16)
    return refused("plan.precision",
                   "updates a stage before an overflow on another one is known, which precision = \"fp16\" needs; use "
                   "precision = \"bf16\", or schedule = \"1f1b\"");
  if (scenario.plan.offload != Offload::none)
    return refused("plan.offload", "does not wait for the host after each micro-batch, and offload = \"" +
                                       scenario.plan.offload.name() +
                                       "\" updates there; use offload = \"none\", or schedule = \"1f1b\"");
  return std::nullopt;
}

}  // namespace

std::optional<Complaint> asynchronous_complaint(const Scenario& scenario, const Advisor& advisor) {
  const PlanSpec& plan = scenario.plan;
  if (!plan.updates_each_micro_batch()) {
    if (!plan.weight_stashing) return std::nullopt;
    return Complaint{{"plan.weight_stashing", "plan.schedule"},
                     "weight_stashing is that of schedule \"1f1b-async\", and under \"" + plan.schedule.name() +
                         "\" weights change only once a step; use weight_stashing = false" +
                         (advisor.works({{"plan.schedule", "1f1b-async"}}) ? ", or schedule = \"1f1b-async\"" : "")};
  }
  if (auto complaint = sums_complaint(scenario)) return complaint;
  if (auto complaint = step_complaint(scenario)) return complaint;
  if (plan.recompute != Recompute::none && !plan.weight_stashing)
    return refused("plan.recompute",
                   "would repeat a forward with newer weights than it first had; use weight_stashing = true, or "
                   "recompute = \"none\"");
  return std::nullopt;
}

}  // namespace rankscope
