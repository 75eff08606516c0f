// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/run_facts.hpp"

#include <algorithm>
#include <stdexcept>

#include "app/models/steps.hpp"

namespace rankscope::app {
namespace {

/// The last step may still grow.
std::vector<std::uint32_t> whole_steps(const StoreView& view, Obtained obtained) {
  const auto last = last_whole_step(view, obtained);
  if (!last) return {};
  std::vector<std::uint32_t> steps = view.steps(obtained);
  std::erase_if(steps, [&](std::uint32_t step) { return step > *last; });
  return steps;
}

ClockDomain clock_of(Obtained obtained) {
  return obtained == Obtained::measured ? ClockDomain::wall : ClockDomain::device;
}

}  // namespace

Obtained headline_of(const StoreView& view) {
  const Hello* hello = view.hello();
  const Obtained wanted =
      hello != nullptr && hello->headline == ClockDomain::device ? Obtained::emulated : Obtained::measured;
  if (!view.extent(wanted).empty()) return wanted;
  for (const Obtained other : {Obtained::emulated, Obtained::measured, Obtained::simulated})
    if (!view.extent(other).empty()) return other;
  return wanted;
}

std::vector<RankProgram> programs_of(const StoreView& view) {
  std::vector<RankProgram> programs;
  const Hello* hello = view.hello();
  if (hello == nullptr) return programs;
  try {
    for (int rank = 0; rank < hello->ranks; ++rank) {
      const ProgramRecord* record = view.program(rank);
      if (record == nullptr) return {};
      programs.push_back(parse_program(record->text));
    }
  } catch (const std::invalid_argument&) {
    return {};  // a damaged text: the spans still stand, only their causes are unknown
  }
  return programs;
}

RunFacts facts_of(const StoreView& view, const Scenario& scenario, const std::vector<RankProgram>& programs,
                  const Prediction* prediction) {
  RunFacts facts;
  facts.plan = scenario.plan;
  facts.title = scenario.title;
  facts.grid = {scenario.plan.tensor, scenario.plan.data, scenario.plan.pipeline};
  facts.programs = programs;
  facts.obtained = headline_of(view);
  facts.clock = clock_of(facts.obtained);
  if (const Hello* hello = view.hello()) {
    facts.peak_flops = hello->peak_flops;
    for (int rank = 0; rank < hello->ranks; ++rank) {
      const auto summaries = view.summaries(rank);
      facts.summaries.insert(facts.summaries.end(), summaries.begin(), summaries.end());
    }
  }
  facts.tokens_per_step = static_cast<std::int64_t>(scenario.train.global_batch) * scenario.model.context;
  const auto steps = whole_steps(view, facts.obtained);
  const std::size_t first_analysed = steps.size() > most_analysed_steps ? steps.size() - most_analysed_steps : 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    ObservedStep step{steps[i], facts.obtained, facts.clock, {}, {}};
    const auto range = view.step_range(facts.obtained, steps[i]);
    if (!range) continue;
    step.range = *range;
    if (i >= first_analysed && !programs.empty()) step.spans = view.step_spans(facts.obtained, steps[i]);
    facts.observed.push_back(std::move(step));
  }
  facts.clocks = view.clocks();
  if (prediction != nullptr && prediction->refusal.empty()) {
    facts.ideal = prediction->ideal;
    facts.predicted = prediction->predicted;
  }
  facts.events = view.event_count();
  facts.dropped = view.dropped_count();
  return facts;
}

std::optional<StepAnalysis> analyse_in(const StoreView& view, const std::vector<RankProgram>& programs,
                                       const RankGrid& grid, Obtained obtained, std::uint32_t step) {
  const auto range = view.step_range(obtained, step);
  if (!range || programs.empty() || static_cast<int>(programs.size()) != grid.size()) return std::nullopt;
  std::vector<Span> spans = view.step_spans(obtained, step);
  const auto steps = view.steps(obtained);
  const auto here = std::lower_bound(steps.begin(), steps.end(), step);
  const auto add = [&](std::uint32_t neighbour) {
    for (const Span& span : view.step_spans(obtained, neighbour))
      if (span.end_ns > range->begin_ns && span.begin_ns < range->end_ns) spans.push_back(span);
  };
  if (here != steps.begin()) add(*std::prev(here));
  if (here != steps.end() && std::next(here) != steps.end()) add(*std::next(here));
  return analyse_step(programs, grid, spans, *range, step);
}

}  // namespace rankscope::app
