// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/prediction.hpp"

#include <algorithm>
#include <exception>
#include <unordered_map>

#include "app/session/store_filler.hpp"
#include "engine/scenario/read.hpp"
#include "engine/simulate/costs.hpp"

namespace rankscope::app {
namespace {

constexpr std::size_t spans_per_batch = 4096;
/// The text of a program is wanted for details of an op; writing it for plans of many ranks would make editing slow.
constexpr std::size_t most_ops_with_text = 100'000;

/// Bytes in use at each op's begin. A program's lifetimes follow its order, not time, so a sample is never earlier than
/// the one before it; samples that say nothing new are left out.
MemoryBatch memory_of(const RankProgram& program, const std::vector<Span>& spans) {
  MemoryBatch batch{Obtained::simulated, ClockDomain::device, {}};
  const MemoryProfile profile = memory_profile(program);
  std::unordered_map<OpId, std::size_t> index;
  for (std::size_t i = 0; i < program.ops.size(); ++i) index.emplace(program.ops[i].id, i);

  struct Start {
    std::uint32_t step;
    std::size_t op;
    std::int64_t begin_ns;
  };
  std::vector<Start> starts;
  for (const Span& span : spans)
    if (const auto found = index.find(span.op); found != index.end())
      starts.push_back({span.step, found->second, span.begin_ns});
  std::sort(starts.begin(), starts.end(),
            [](const Start& a, const Start& b) { return std::pair(a.step, a.op) < std::pair(b.step, b.op); });
  std::int64_t time = 0;
  for (const Start& start : starts) {
    time = std::max(time, start.begin_ns);
    const auto& bytes = profile.at[start.op];
    if (!batch.samples.empty() && batch.samples.back().bytes == bytes) continue;
    batch.samples.push_back({program.rank, start.step, program.ops[start.op].id, time, bytes});
  }
  return batch;
}

std::shared_ptr<const StoreView> store_of(const Prediction& prediction, int steps) {
  RunStore store;
  StoreFiller filler(store);
  Hello hello;
  hello.title = prediction.scenario.title;
  hello.scenario_toml = to_toml(prediction.scenario);
  hello.ranks = prediction.grid.size();
  hello.steps = steps;
  hello.headline = ClockDomain::device;
  hello.peak_flops = prediction.scenario.cluster.peak_flops(prediction.scenario.compute_type());
  filler.add(-1, hello);

  std::size_t ops = 0;
  for (const RankProgram& program : prediction.programs) ops += program.ops.size();
  if (ops <= most_ops_with_text)
    for (const RankProgram& program : prediction.programs) {
      ProgramRecord record{program.rank, 0, to_text(program)};
      record.hash = hash_of(record.text);
      filler.add(program.rank, std::move(record));
    }

  std::vector<std::vector<Span>> by_rank(prediction.programs.size());
  for (const Span& span : prediction.predicted.spans) by_rank[static_cast<std::size_t>(span.rank)].push_back(span);
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    const std::vector<Span>& spans = by_rank[rank];
    for (std::size_t begin = 0; begin < spans.size(); begin += spans_per_batch) {
      const auto from = spans.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto to = spans.begin() + static_cast<std::ptrdiff_t>(std::min(begin + spans_per_batch, spans.size()));
      filler.add(static_cast<int>(rank), SpanBatch{Obtained::simulated, ClockDomain::device, {from, to}});
    }
    filler.add(static_cast<int>(rank), memory_of(prediction.programs[rank], spans));
  }
  filler.add(-1, End{-1, true, steps - 1, {}});
  return store.view();
}

RunFacts facts_of(const Prediction& prediction, const StepProgram& program) {
  const Scenario& scenario = prediction.scenario;
  RunFacts facts;
  facts.plan = scenario.plan;
  facts.title = scenario.title;
  facts.grid = prediction.grid;
  facts.programs = prediction.programs;
  facts.obtained = Obtained::simulated;
  facts.clock = ClockDomain::device;
  facts.peak_flops = scenario.cluster.peak_flops(scenario.compute_type());
  facts.model_flops = program.model.model_flops_per_sample() * scenario.train.global_batch;
  facts.tokens_per_step = static_cast<std::int64_t>(scenario.train.global_batch) * scenario.model.context;
  std::unordered_map<std::uint32_t, ObservedStep> steps;
  for (const Span& span : prediction.predicted.spans) {
    ObservedStep& step = steps[span.step];
    step.step = span.step;
    step.obtained = Obtained::simulated;
    step.clock = ClockDomain::device;
    step.spans.push_back(span);
  }
  for (auto& [number, step] : steps) {
    step.range = step_range(prediction.predicted.spans, number);
    facts.observed.push_back(std::move(step));
  }
  facts.ideal = prediction.ideal;
  facts.predicted = prediction.predicted;
  return facts;
}

}  // namespace

Prediction predict(const Scenario& scenario, int steps) {
  Prediction prediction;
  prediction.scenario = scenario;
  try {
    check_scenario(scenario);
    const StepProgram program = compile(scenario);
    prediction.grid = program.grid;
    prediction.programs = program.all_programs();
    prediction.predicted =
        simulate(prediction.programs, prediction.grid, modelled_costs(scenario, program.model), steps);
    prediction.ideal =
        simulate(prediction.programs, prediction.grid, unit_costs(program.model, program.first_segment), 1);
    prediction.report = make_report(facts_of(prediction, program));
    prediction.view = store_of(prediction, steps);
  } catch (const std::exception& error) {
    prediction = {};
    prediction.scenario = scenario;
    prediction.refusal = error.what();
  }
  return prediction;
}

}  // namespace rankscope::app
