// A small run for tests of the report: four stages under 1F1B, with spans from a simulation.
#pragma once
#include <algorithm>
#include <limits>

#include "engine/explain/analyse/report.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "tests/engine/explain/analyse/timelines.hpp"

namespace rankscope::four_stages {

inline constexpr int p = 4, m = 8;  ///< stages, micro-batches

inline Costs costs_of(std::int64_t forward) {
  return {[=](const RankProgram&, const Op& op) -> std::int64_t {
            const OpKind kind = op.id.kind();
            return kind == OpKind::forward ? forward : kind == OpKind::backward ? 2 * forward : 0;
          },
          [](int, int) {
            return Link{50, 0};
          },
          {}};
}

/// A run of `steps` steps with simulated spans, reported as measured on the wall clock.
inline RunFacts facts_of(int steps) {
  RunFacts facts;
  facts.title = "a test";
  facts.plan.pipeline = p;
  facts.plan.schedule = "1f1b";
  facts.plan.micro_batches = m;
  facts.grid = {1, 1, p};
  facts.programs = pipeline_programs(make_schedule("1f1b", {p, 1, m}), 1000);
  facts.peak_flops = 1e12;
  facts.ideal_bubble = ideal_bubble(make_schedule("1f1b", {p, 1, m}));
  facts.ideal = simulate(facts.programs, facts.grid, unit_costs());
  facts.predicted = simulate(facts.programs, facts.grid, costs_of(1000), 3);
  const Simulation run = simulate(facts.programs, facts.grid, costs_of(1100), steps);
  for (int s = 0; s < steps; ++s) {
    const auto step = static_cast<std::uint32_t>(s);
    ObservedStep observed{step, Obtained::measured, ClockDomain::wall, step_range(run.spans, step), {}};
    for (const Span& span : run.spans)
      if (span.step + 1 >= step && span.step <= step + 1) observed.spans.push_back(span);
    for (int r = 0; r < p; ++r) {
      StepSummary summary;
      summary.rank = r;
      summary.step = step;
      summary.begin_ns = std::numeric_limits<std::int64_t>::max();
      for (const Span& span : observed.spans)
        if (span.step == step && span.rank == r && span.op.lane() == Lane::compute) {
          summary.begin_ns = std::min(summary.begin_ns, span.begin_ns);
          summary.end_ns = std::max(summary.end_ns, span.end_ns);
        }
      if (r == p - 1) {
        summary.loss = 5.0 - s;
        summary.tokens = 512;
      }
      summary.gradient_square_norm = r + 1;
      summary.model_flops = 1e6;
      summary.hardware_flops = 1.25e6;
      summary.peak_bytes = {10, 20, 30, 40 + r, 50};
      summary.peak_total_bytes = 140 + r;
      if (r < p - 1) summary.traffic.push_back({Purpose::pipeline_forward, OpKind::send, m, m * 1000, m * 1000});
      if (r > 0) summary.traffic.push_back({Purpose::pipeline_forward, OpKind::receive, m, m * 1000, -1});
      summary.spans_emitted = 100;
      summary.spans_dropped = r == 0 ? 1 : 0;
      facts.summaries.push_back(summary);
    }
    facts.observed.push_back(std::move(observed));
  }
  return facts;
}

}  // namespace rankscope::four_stages
