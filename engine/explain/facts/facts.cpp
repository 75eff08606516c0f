#include "engine/explain/facts/facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "engine/explain/facts/forecast.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/program/link.hpp"
#include "engine/plan/program/passes.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/plan/scenario/run_choices.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/cost/software.hpp"
#include "engine/predict/layout/simulate.hpp"

namespace rankscope {
namespace {

/// Including what the cluster's software recomputes after the op.
double repeated_flops(const StepProgram& step, const OpFields& f) {
  const SegmentSpec& segment = step.model.segment(f.block, f.segment);
  double flops = segment.forward_flops;
  const bool to_the_end = step.scenario.cluster.software.recompute_whole &&
                          step.scenario.plan.recompute == Recompute::blocks && step.scenario.plan.recompute_blocks == 1;
  if (to_the_end)
    for (const SegmentSpec& other : step.model.unrepeated_behind(segment)) flops += other.forward_flops;
  return flops;
}

RunFacts common_facts(const RunContext& context) {
  const Scenario& scenario = context.step.scenario;
  RunFacts facts;
  facts.plan = scenario.plan;
  facts.title = scenario.title;
  facts.grid = context.step.grid;
  facts.programs = context.programs;
  facts.ideal_bubble = ideal_bubble(context.step.schedule);
  facts.ideal = context.ideal;
  facts.model_flops = facts.hardware_flops = context.step.model.model_flops_per_sample() * scenario.train.global_batch;
  for (const RankProgram& program : context.programs)
    for (const Op& op : program.ops)
      if (op.id.kind() == OpKind::recompute) facts.hardware_flops += repeated_flops(context.step, op.id.fields());
  facts.cluster = scenario.cluster;
  facts.tokens_per_step = std::int64_t{scenario.train.global_batch} * context.step.model.spec.tokens_per_sample();
  facts.token_word = scenario.model.token_word();
  if (scenario.model.is_collective()) facts.task = task_words(context.step);
  return facts;
}

RunContext with_ideal(StepProgram step, std::vector<RankProgram> programs) {
  RunContext context{std::move(step), std::move(programs), {}, {}};
  context.linked = std::make_shared<const Step>(link(context.programs, context.step.grid));
  context.ideal =
      simulate(context.programs, context.step.grid, unit_costs(context.step.model, context.step.first_segment),
               predicted_steps(context.programs));
  return context;
}

}  // namespace

RunContext context_of(const Scenario& scenario) {
  StepProgram step = compile(scenario);
  std::vector<RankProgram> programs = step.all_programs();
  return with_ideal(std::move(step), std::move(programs));
}

RunContext context_of(const StoreView& store) {
  const Hello* hello = store.hello();
  if (!hello) throw std::runtime_error("the run is not described: its first message is missing");
  StepProgram step = compile(parse_recorded_scenario(hello->scenario_toml));
  std::vector<RankProgram> programs;
  for (int rank = 0; rank < step.grid.size(); ++rank) {
    const ProgramRecord* record = store.program(rank);
    programs.push_back(record ? parse_program(record->text) : step.program_for(rank));
  }
  return with_ideal(std::move(step), std::move(programs));
}

std::string costs_of_cluster(const ClusterSpec& cluster) {
  constexpr std::size_t most_named = 3;
  const std::vector<ChangedFigure> changed = changed_figures(cluster);
  std::vector<std::string> words;
  for (const ChangedFigure& figure : changed) words.push_back(fmt::format("{} = {}", figure.name, figure.value));
  std::string with;
  if (!changed.empty())
    with = changed.size() <= most_named
               ? fmt::format(" with {}", fmt::join(words, ", "))
               : fmt::format(" with {} of the scenario's own", counted(changed.size(), "figure"));
  return fmt::format("cluster '{}'{}, not measured on this machine", cluster.label(), with);
}

std::string costs_measured_on(const std::string& host, const ClusterSpec& links) {
  return "measured on " + host + " without peers; links of cluster '" + links.label() + "'";
}

bool is_forecast(const StoreView& store) {
  return store.hello() != nullptr && store.hello()->device == simulated_device;
}

RunFacts facts_of_plan(const RunContext& context, const Costs& costs) {
  RunFacts facts = common_facts(context);
  facts.obtained = Obtained::simulated;
  facts.clock = ClockDomain::device;
  facts.peak_flops = context.step.scenario.cluster.peak_flops(context.step.model.type);
  facts.costs = costs_of_cluster(context.step.scenario.cluster);
  for (RankProgram& program : facts.programs) program = as_run_on(context.step.scenario.cluster, std::move(program));
  const int steps = predicted_steps(facts.programs);
  facts.predicted = simulate(facts.programs, context.step.grid, costs, steps);
  for (const std::uint32_t s : {0u, static_cast<std::uint32_t>(steady_step(static_cast<std::size_t>(steps)))})
    facts.observed.push_back(
        {s, Obtained::simulated, ClockDomain::device, step_range(facts.predicted->spans, s), facts.predicted->spans});
  return facts;
}

namespace {

/// Steps with their neighbours: each is read from the store once, if they are requested in order.
class StepsInOrder {
 public:
  StepsInOrder(const StoreView& store, const RunContext& context, Obtained obtained)
      : store_(store), obtained_(obtained), steps_(store.steps(obtained)), apart_(steps_apart(context.programs)) {}

  std::vector<Span> around(std::uint32_t step) {
    std::vector<Span> spans;
    const auto range = store_.step_range(obtained_, step);
    if (!range) return spans;
    const auto at = std::lower_bound(steps_.begin(), steps_.end(), step) - steps_.begin();
    const auto first = std::max<std::ptrdiff_t>(at - apart_, 0);
    const auto last = std::min<std::ptrdiff_t>(at + apart_, std::ssize(steps_) - 1);
    known_.erase(known_.begin(), known_.lower_bound(first));
    for (auto i = first; i <= last; ++i) {
      const auto [found, is_new] = known_.try_emplace(i);
      if (is_new) found->second = store_.step_spans(obtained_, steps_[i]);
      for (const Span& span : found->second)
        if (span.step == step || (span.end_ns > range->begin_ns && span.begin_ns < range->end_ns))
          spans.push_back(span);
    }
    return spans;
  }

 private:
  const StoreView& store_;
  Obtained obtained_;
  std::vector<std::uint32_t> steps_;
  int apart_;
  std::map<std::ptrdiff_t, std::vector<Span>> known_;  ///< by place among the steps
};

}  // namespace

std::vector<Span> spans_around(const StoreView& store, const RunContext& context, Obtained obtained,
                               std::uint32_t step) {
  return StepsInOrder(store, context, obtained).around(step);
}

RunFacts facts_of_run(const StoreView& store, const RunContext& context, std::size_t steps_with_spans) {
  RunFacts facts = common_facts(context);
  const Hello* hello = store.hello();
  const bool emulated = !store.steps(Obtained::emulated).empty();
  facts.clock = hello && hello->headline == ClockDomain::device && emulated ? ClockDomain::device : ClockDomain::wall;
  facts.obtained = facts.clock == ClockDomain::device ? Obtained::emulated : Obtained::measured;
  if (is_forecast(store)) {
    facts.clock = ClockDomain::device;
    facts.obtained = Obtained::simulated;
  }
  facts.peak_flops = hello ? hello->peak_flops : 0;
  facts.peak_spread = hello ? hello->peak_spread : 0;
  if (hello) facts.loss_floor = hello->entropy_nats;
  if (hello) facts.energy_unknown = hello->energy_unknown;
  if (hello && !store.steps(Obtained::simulated).empty())
    facts.costs = hello->device == word_of(DeviceKind::sleep) || (is_forecast(store) && hello->host.empty())
                      ? costs_of_cluster(context.step.scenario.cluster)
                      : costs_measured_on(hello->host, context.step.scenario.cluster);
  facts.clocks = store.clocks();
  for (ClockRecord& clock : facts.clocks) clock.offset_ns = 0;  // the store's times are on the corrected time line
  facts.events = store.event_count() + store.evicted_count();
  facts.dropped = store.dropped_count();
  facts.totals = store.totals();
  for (const End& end : store.ends())
    if (end.rank < 0) facts.end = end;

  if (const auto steps = store.steps(Obtained::simulated); !steps.empty()) {
    Simulation predicted;
    for (const std::uint32_t s : steps)
      for (const Span& span : store.step_spans(Obtained::simulated, s)) {
        predicted.spans.push_back(span);
        predicted.end_ns = std::max(predicted.end_ns, span.end_ns);
      }
    facts.predicted = std::move(predicted);
  }
  std::vector<std::uint32_t> steps = store.steps(facts.obtained);
  if (is_forecast(store) && !steps.empty()) steps = {steps.front(), steps[steady_step(steps.size())]};
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  StepsInOrder spans_of(store, context, facts.obtained);
  const std::size_t first_with_spans = steps.size() - std::min(steps.size(), steps_with_spans);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto range = store.step_range(facts.obtained, steps[i]);
    if (!range) continue;
    facts.observed.push_back({steps[i], facts.obtained, facts.clock, *range, {}});
    if (i >= first_with_spans) facts.observed.back().spans = spans_of.around(steps[i]);
  }
  return facts;
}

}  // namespace rankscope
