#include "engine/explain/facts/run_costs.hpp"

#include <cmath>
#include <unordered_map>

#include "engine/plan/scenario/run_choices.hpp"
#include "engine/predict/cost/modelled_costs.hpp"

namespace rankscope {
namespace {

struct Sum {
  double measured = 0, modelled = 0;
  void add(std::int64_t measured_ns, std::int64_t modelled_ns) {
    measured += static_cast<double>(measured_ns);
    modelled += static_cast<double>(modelled_ns);
  }
  double ratio() const { return modelled > 0 ? measured / modelled : 1; }
};

Costs modelled_without_fault(Scenario scenario, const Model& model) {
  scenario.fault = {};
  return modelled_costs(scenario, model);
}

/// The op's time on a rank that is not slow.
std::int64_t unslowed_ns(const FaultSpec& fault, std::int32_t rank, OpKind kind, std::int64_t ns) {
  FaultSpec inverse = fault;
  inverse.slow_factor = 1 / fault.slow_factor;
  return slowed_ns(inverse, rank, kind, ns);
}

}  // namespace

std::optional<RunCosts> costs_of_run(const StoreView& run, const RunContext& context) {
  if (run.hello() == nullptr || run.hello()->device == word_of(DeviceKind::sleep) || is_forecast(run))
    return std::nullopt;
  std::vector<std::unordered_map<OpId, OpIndex>> ops(context.programs.size());
  for (std::size_t rank = 0; rank < ops.size(); ++rank) {
    if (run.program(static_cast<int>(rank)) == nullptr) return std::nullopt;
    const std::vector<Op>& all = context.programs[rank].ops;
    for (OpIndex i = 0; i < all.size(); ++i) ops[rank].emplace(all[i].id, i);
  }
  const Costs model = modelled_without_fault(context.step.scenario, context.step.model);
  std::vector<CostSample> samples;
  std::map<std::pair<OpKind, Segment>, Sum> sums;
  Sum compute;
  for (const std::uint32_t step : run.steps(Obtained::simulated))
    for (const Span& span : run.step_spans(Obtained::simulated, step)) {
      if (span.rank < 0 || static_cast<std::size_t>(span.rank) >= ops.size() || !span.op.valid()) continue;
      const OpFields f = span.op.fields();
      if (is_communication(f.kind)) continue;
      const auto found = ops[span.rank].find(span.op);
      if (found == ops[span.rank].end()) continue;
      const std::int64_t ns = unslowed_ns(context.step.scenario.fault, span.rank, f.kind, span.end_ns - span.active_ns);
      samples.push_back({span.rank, found->second, ns});
      const RankProgram& program = context.programs[span.rank];
      const std::int64_t modelled = model.compute_ns(program, program.ops[found->second]);
      sums[{f.kind, f.segment}].add(ns, modelled);
      if (is_model_compute(f.kind)) compute.add(ns, modelled);
    }
  if (samples.empty()) return std::nullopt;
  RunCosts costs;
  costs.measured = calibrate(context.programs, samples, {});
  for (const auto& [key, sum] : sums) costs.over_model[key] = sum.ratio();
  costs.compute_over_model = compute.ratio();
  return costs;
}

Costs costs_as_in(const RunCosts& run, const Scenario& scenario, const Model& model) {
  Costs costs = modelled_without_fault(scenario, model);
  costs.compute_ns = [run, modelled = std::move(costs.compute_ns)](const RankProgram& program,
                                                                   const Op& op) -> std::int64_t {
    if (const auto known = run.measured.ops.find(signature_of(program, op)); known != run.measured.ops.end())
      return known->second.ns;
    const OpFields f = op.id.fields();
    const auto ratio = run.over_model.find({f.kind, f.segment});
    const double factor = ratio != run.over_model.end() ? ratio->second
                          : is_model_compute(f.kind)    ? run.compute_over_model
                                                        : 1;
    return std::llround(static_cast<double>(modelled(program, op)) * factor);
  };
  return slowed_costs(std::move(costs), scenario.fault);
}

}  // namespace rankscope
