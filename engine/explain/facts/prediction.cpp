#include "engine/explain/facts/prediction.hpp"

#include <algorithm>
#include <cmath>

#include "engine/explain/facts/imported.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/lost_node.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/predict/cost/goodput.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/fold/folded.hpp"

namespace rankscope {
namespace {

constexpr double many_ops = 3e4;      // built, laid out and freed in two or three seconds
constexpr double bytes_per_op = 2500;  // programs, spans, analysis: measured 1,300 to 2,800

/// Of the rank that needs most; of equal ones the first.
void add_device(Report& report, const ClusterSpec& cluster) {
  if (!(cluster.memory_bytes > 0)) return;
  DeviceFit fit{cluster.memory_bytes, cluster.context_bytes, cluster.allocator_slack, 0, 0};
  for (const MemoryRow& row : report.memory) {
    if (!row.predicted) continue;
    // An allocator that keeps freed blocks holds each class's own peak; it does not allocate the context.
    const ClassBytes& most = row.predicted->by_class;
    const auto reserved = static_cast<double>(device_sum(most) - most[static_cast<std::size_t>(MemoryClass::context)]);
    const double needed = reserved * (1 + fit.slack) + fit.context;
    if (needed <= fit.needed) continue;
    fit.needed = needed;
    fit.reserved = reserved;
    fit.rank = row.rank;
  }
  report.device = fit;
}

Report folded_report(const StepProgram& step) {
  const Scenario& scenario = step.scenario;
  const FoldedStep folded = fold_step(scenario);
  Report report;
  report.title = scenario.title;
  report.plan = scenario.plan;
  report.ranks = step.grid.size();
  report.clock = ClockDomain::device;
  report.obtained = Obtained::simulated;
  report.folded = true;
  report.costs = costs_of_cluster(scenario.cluster);
  if (scenario.fault.slow_rank >= 0) report.slow = SlowRank{scenario.fault.slow_rank, scenario.fault.slow_factor};
  report.step_seconds = report.predicted_step_seconds = folded.seconds;
  StepRow row;
  row.seconds = folded.seconds;
  row.tokens_per_s =
      static_cast<double>(scenario.train.global_batch) * step.model.spec.tokens_per_sample() / folded.seconds;
  report.tokens_per_s = row.tokens_per_s;
  report.steps.push_back(row);
  report.bubble.ideal = ideal_bubble(step.schedule);
  report.bubble.predicted = folded.bubble / folded.seconds;
  using enum TimeClass;
  const std::pair<TimeClass, double> parts[] = {{compute, folded.compute},     {recompute, folded.recompute},
                                                {tensor, folded.tensor},       {pipeline, folded.pipeline},
                                                {data, folded.data},           {zero, folded.zero},
                                                {optimizer, folded.optimizer}, {bubble, folded.bubble}};
  for (const auto& [which, seconds] : parts) report.time[which] = seconds / folded.seconds;
  // Its mean over all ranks is known; that of each rank is not.
  StepAnalysis step_of_all;
  step_of_all.range = {0, std::llround(folded.seconds * 1e9)};
  step_of_all.workers = report.ranks;
  step_of_all.average = report.time;
  step_of_all.bubble = report.time[bubble];
  report.predicted = std::move(step_of_all);
  const DType type = step.model.type;
  report.tflops_per_device = folded.model_flops / (folded.seconds * report.ranks) * 1e-12;
  report.mfu = folded.mfu(scenario.cluster, type, report.ranks);
  report.hfu = folded.hfu(scenario.cluster, type, report.ranks);
  for (const FoldedTraffic& moved : fold_traffic(scenario)) {
    TrafficReport traffic;
    traffic.purpose = moved.purpose;
    traffic.collective = moved.kind;
    traffic.group = moved.group;
    traffic.count = moved.count;
    traffic.predicted = moved.bytes_per_rank;
    report.traffic.push_back(traffic);
  }
  for (int stage = 0; stage < step.grid.pipeline; ++stage) {
    const StageMemory& memory = folded.memory[stage];
    report.memory.push_back({step.grid.rank_of({0, 0, stage}), std::nullopt,
                             MemoryBytes{memory.peak_by_class, memory.peak(), memory.at_peak},
                             step.grid.tensor * step.grid.data});
  }
  return report;
}

}  // namespace

double count_ops(const StepProgram& step) {
  double ops = 0;
  for (const auto& order : step.schedule.order)
    for (const OpId op : order) {
      const auto chunk = static_cast<std::size_t>(op.fields().chunk);
      ops += step.first_segment[chunk + 1] - step.first_segment[chunk];
    }
  return ops * step.grid.tensor * step.grid.data;
}

void check_size(const StepProgram& step, double most_bytes) {
  const double ops = count_ops(step), bytes = ops * bytes_per_op;
  if (bytes <= most_bytes) return;
  std::string why = why_not_folded(step.scenario);
  if (!why.empty()) why = "; identical ranks cannot be folded into one: " + why;
  throw PlanError(
      fmt::format("the programs of the plan's {} have some {:.1f} million ops, which need about {} one by "
                  "one, more than {}{}",
                  counted(step.grid.size(), "rank"), ops / 1e6, figure::bytes(bytes), figure::bytes(most_bytes), why));
}

bool is_folded(const StepProgram& step) {
  const bool has_other_software = step.scenario.cluster.software != SoftwareSpec{};
  return (has_other_software || count_ops(step) > many_ops) && std::string_view(why_not_folded(step.scenario)).empty();
}

namespace {

StepPrediction predict_in_full(const StepProgram& step, const Prepare& prepare, const std::optional<OtherCosts>& other,
                               const std::function<bool(const StepProgram&)>& folds, double most_bytes) {
  StepPrediction predicted;
  if (folds(step)) {
    if (other)
      throw PlanError(
          fmt::format("the programs of the plan's {} have some {} million ops, which are folded and predicted from a "
                      "cluster's figures; leave out --here",
                      counted(step.grid.size(), "rank"), std::llround(count_ops(step) / 1e6)));
    predicted.report = folded_report(step);
  } else {
    check_size(step, most_bytes);
    const auto context = std::make_shared<RunContext>(context_of(step.scenario));
    if (prepare) prepare(context->step, context->programs);
    predicted.context = context;
    predicted.facts =
        facts_of_plan(*context, other ? other->costs(context->step) : modelled_costs(step.scenario, step.model));
    if (other) {
      predicted.facts->costs = other->from;
      predicted.facts->peak_flops = other->peak_flops;
    }
    predicted.report = make_report(*predicted.facts);
  }
  if (!other) add_device(predicted.report, step.scenario.cluster);
  return predicted;
}

}  // namespace

Report predict_step(const StepProgram& step, const Prepare& prepare) {
  return predict_in_full(step, prepare, {}, is_folded, usual_bytes).report;
}

StepPrediction predict_with_facts(const Scenario& scenario, const Prepare& prepare,
                                  const std::optional<OtherCosts>& other,
                                  const std::function<bool(const StepProgram&)>& folds, double most_bytes) {
  const auto after = after_lost_node(scenario);
  if (!after) return predict_in_full(compile(scenario), prepare, other, folds, most_bytes);
  Scenario whole = scenario;
  whole.cluster.lost_node = -1;
  const StepPrediction before = predict_in_full(compile(whole), prepare, other, folds, most_bytes);
  StepPrediction left =
      after->replicas_lost > 0 ? predict_in_full(compile(after->scenario), prepare, other, folds, most_bytes) : before;
  left.report.lost = {scenario.cluster.lost_node, after->replicas_lost, after->replicas_before,
                      before.report.steps.empty() ? std::nan("") : before.report.steps.back().tokens_per_s};
  return left;
}

Report predict_scenario(const Scenario& scenario, const Prepare& prepare) {
  return predict_with_facts(scenario, prepare).report;
}

Report report_of(const StoreView& recording) {
  const Hello* hello = recording.hello();
  if (hello != nullptr && is_forecast(recording)) {
    const Scenario scenario = parse_recorded_scenario(hello->scenario_toml);
    if (hello->ranks < scenario.plan.ranks()) return predict_step(compile(scenario));
  }
  if (is_imported(recording)) return make_report(facts_of_import(recording, step_facts(recording)));
  return make_report(facts_of_run(recording, context_of(recording)));
}

RunBudget budget_of(const Report& report, const ClusterSpec& cluster, double tokens, int checkpoint_every) {
  RunBudget budget;
  budget.tokens = tokens;
  const double seconds = report.steps.empty() ? std::nan("") : tokens / report.steps.back().tokens_per_s;
  budget.days = seconds / 86400;
  if (cluster.failure_hours > 0) {
    const Failures failures{cluster.failure_hours * 3600 / report.ranks, cluster.checkpoint_seconds,
                            cluster.restart_seconds};
    const Goodput kept = goodput(seconds, checkpoint_every * report.step_seconds, failures);
    budget.goodput = kept.share;
    budget.days_with_failures = budget.days / kept.share;
    budget.failures = kept.failures;
    budget.checkpoint_interval = kept.interval;
  }
  if (cluster.power_watts > 0) {
    const double bubble = report.time[TimeClass::bubble];
    budget.watts = cluster.average_watts(std::isnan(bubble) ? 0 : bubble);
    budget.joules = seconds * budget.watts * report.ranks;
  }
  return budget;
}

}  // namespace rankscope
