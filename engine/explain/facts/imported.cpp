#include "engine/explain/facts/imported.hpp"

#include <algorithm>

#include "engine/explain/analyse/observed_step.hpp"

namespace rankscope {

bool is_imported(const StoreView& store) {
  const Hello* hello = store.hello();
  if (hello == nullptr || !hello->scenario_toml.empty()) return false;
  for (int rank = 0; rank < hello->ranks; ++rank)
    if (store.program(rank) != nullptr) return store.facts(rank) != nullptr;
  return false;
}

std::vector<StepFacts> step_facts(const StoreView& store) {
  std::vector<StepFacts> facts;
  if (!is_imported(store)) return facts;
  for (int rank = 0; rank < store.hello()->ranks; ++rank) {
    StepFacts& of_rank = facts.emplace_back();
    if (const StepFacts* known = store.facts(rank)) of_rank = *known;
    of_rank.rank = rank;
  }
  return facts;
}

std::optional<ObservedStep> imported_step(const StoreView& store, const std::vector<StepFacts>& facts,
                                          std::uint32_t step) {
  const auto range = store.step_range(Obtained::measured, step);
  if (!range) return std::nullopt;
  ObservedStep result{step, Obtained::measured, ClockDomain::wall, *range, {}};
  // A step is no barrier: what ranks do of the steps beside it is part of its time.
  for (const std::uint32_t number : {step - 1, step, step + 1})
    for (const Span& span : store.step_spans(Obtained::measured, number))
      if (number == step || (span.end_ns > range->begin_ns && span.begin_ns < range->end_ns))
        result.spans.push_back(span);
  const GivenBytes given = [&](int rank, OpId op) -> std::int64_t {
    for (const PhaseSpan& phase : store.phases(rank, step, op))
      if (phase.is_given()) return phase.bytes;
    return -1;
  };
  result.linked = std::make_shared<const Step>(observed_step(facts, result.spans, step, given));
  return result;
}

RunFacts facts_of_import(const StoreView& store, const std::vector<StepFacts>& facts, std::size_t steps_with_spans) {
  RunFacts run;
  const Hello* hello = store.hello();
  run.is_imported = true;
  run.title = hello->title;
  run.grid.data = run.plan.data = hello->ranks;  // their places in a grid are unknown: only their number is used
  run.clocks = store.clocks();
  run.events = store.event_count() + store.evicted_count();
  run.dropped = store.dropped_count();
  run.totals = store.totals();
  const std::vector<std::uint32_t> steps = store.steps(Obtained::measured);
  const std::size_t first_with_spans = steps.size() - std::min(steps.size(), steps_with_spans);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i >= first_with_spans) {
      if (auto step = imported_step(store, facts, steps[i])) run.observed.push_back(std::move(*step));
    } else if (const auto range = store.step_range(Obtained::measured, steps[i])) {
      run.observed.push_back({steps[i], Obtained::measured, ClockDomain::wall, *range, {}});
    }
  }
  return run;
}

}  // namespace rankscope
