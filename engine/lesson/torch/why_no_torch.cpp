// Checks whether a scenario has a script.
#include <fmt/format.h>

#include <set>

#include "engine/lesson/torch/torch_script.hpp"
#include "engine/plan/scenario/data_source.hpp"
#include "engine/plan/scenario/stage_split.hpp"

namespace rankscope {
namespace {

const std::set<std::string>& known_optimizers() {
  static const std::set<std::string> known{"sgd", "momentum", "adagrad", "adam", "adamw", "radam"};
  return known;
}

std::string quoted(const std::string& word) { return "\"" + word + "\""; }

std::string why_no_model(const Scenario& s) {
  if (s.model.is_collective())
    return "model.kind: a collective alone trains nothing that a PyTorch script could train; \"gpt\" would do";
  if (s.model.is_resnet())
    return "model.kind: there is no PyTorch script of \"resnet\" yet; of \"gpt\" and \"llama\" there is";
  if (s.model.kind == ModelKind::llama && s.plan.tensor > 1)
    return "plan.tensor: there is no PyTorch script of a llama's tensor ranks yet; tensor = 1 would do";
  if (s.model.dropout > 0)
    return "model.dropout: PyTorch draws other elements to drop, so the losses would differ; 0 would do";
  if (!is_synthetic(s.data))
    return "data.source: PyTorch scripts draw the synthetic language and read no files yet; \"synthetic\" would do";
  if (s.plan.precision != Precision::fp32 && s.plan.precision != Precision::fp64)
    return "plan.precision: " + quoted(s.plan.precision.name()) +
           " rounds differently in PyTorch, so the losses would differ; \"fp32\" or \"fp64\" would do";
  if (!known_optimizers().contains(s.train.optimizer))
    return "train.optimizer: PyTorch has no " + quoted(s.train.optimizer) +
           " that computes the same; sgd, momentum, adagrad, adam, adamw and radam it has";
  return {};
}

std::string why_no_schedule(const PlanSpec& plan) {
  if (plan.updates_each_micro_batch())
    return "plan.schedule: PyTorch's pipelines update once a step, and " + quoted(plan.schedule.name()) +
           " after each micro-batch; \"1f1b\" would do";
  const bool known = plan.schedule == ScheduleKind::naive || plan.schedule == ScheduleKind::gpipe ||
                     plan.schedule == ScheduleKind::one_f_one_b || plan.schedule == ScheduleKind::interleaved;
  if (plan.pipeline > 1 && !known)
    return "plan.schedule: there is no PyTorch script of " + quoted(plan.schedule.name()) +
           " yet; of \"naive\", \"gpipe\", \"1f1b\" and \"interleaved\" there is";
  if (plan.virtual_stages > 1 && plan.pipeline == 1)
    return "plan.virtual: PyTorch's pipelines have two stages at least; virtual = 1 would do";
  if (stage_split(plan) == StageSplit::measured)
    return "plan.stages: what is measured differs from machine to machine; \"even\", \"cost\" or a list would do";
  if (plan.pipeline > 1 && plan.data > 1 && plan.zero >= 2)
    return "plan.zero: there is no PyTorch script of stages that share parameters or gradients yet; 0 or 1 would do";
  return {};
}

/// Each rank has rows [t·share, (t + 1)·share) of the vocabulary, up to the number of words.
bool some_rank_has_no_words(const Scenario& s) {
  const int share = (s.model.vocabulary + s.plan.tensor - 1) / s.plan.tensor;
  return share * (s.plan.tensor - 1) >= s.model.vocabulary;
}

std::string why_no_plan(const Scenario& s) {
  const PlanSpec& plan = s.plan;
  if (plan.has_main_device() || plan.has_servers())
    return "plan.data_parallel: there is no PyTorch script of " + quoted(plan.data_parallel.name()) +
           " yet; of \"all-reduce\" there is";
  if (plan.offload != Offload::none)
    return "plan.offload: there is no PyTorch script of it yet, and it changes no number; \"none\" would do";
  if (plan.recompute != Recompute::none && (plan.recompute != Recompute::blocks || plan.recompute_blocks != 1))
    return "plan.recompute: there are PyTorch scripts of \"none\" and of \"blocks\" with recompute_blocks = 1 alone; "
           "it "
           "changes no number";
  if (plan.sequence_parallel && plan.tensor > 1)
    return "plan.sequence_parallel: there is no PyTorch script of it yet, and it changes no number; false would do";
  if (some_rank_has_no_words(s))
    return fmt::format(
        "plan.tensor: a tensor rank would have none of the {} words, for which there is no PyTorch script; "
        "fewer ranks would do",
        s.model.vocabulary);
  return why_no_schedule(plan);
}

}  // namespace

std::string why_no_torch(const Scenario& scenario) {
  if (scenario.fault.plant != Plant::none)
    return "fault.plant: a wrong program is this engine's alone; without it there is a PyTorch script";
  if (std::string why = why_no_model(scenario); !why.empty()) return why;
  return why_no_plan(scenario);
}

}  // namespace rankscope
