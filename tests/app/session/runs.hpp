// SPDX-License-Identifier: GPL-3.0-or-later
// A run with known content: a compiled plan's own prediction, reported as if it had been measured.
#pragma once
#include <functional>

#include "app/session/prediction.hpp"
#include "engine/plan/scenario/read.hpp"
#include "telemetry/event/event_sender.hpp"

namespace rankscope::app {

inline Scenario small_scenario(const std::string& plan = "pipeline = 2\nschedule = \"gpipe\"\nmicro_batches = 4") {
  return parse_scenario(
      "title = \"a small pipeline\"\n[model]\nlayers = 4\nwidth = 32\nheads = 2\ncontext = 16\n"
      "vocabulary = 64\n[plan]\n" +
          plan + "\n[train]\nglobal_batch = 16\nsteps = 5\n",
      "small.toml");
}

/// Control, summaries and spans of `steps` steps on the wall clock: the prediction's second step, repeated.
inline void publish_run(const std::function<void(int rank, Event event)>& publish, const Scenario& scenario, int steps,
                        bool end = true) {
  const Prediction prediction = predict(scenario);
  if (!prediction.refusal.empty()) throw std::runtime_error(prediction.refusal);
  Hello hello;
  hello.title = scenario.title;
  hello.scenario_toml = to_toml(scenario);
  hello.ranks = scenario.plan.ranks();
  hello.steps = steps;
  hello.entropy_nats = 1.5;
  hello.peak_flops = 1e9;
  publish(0, hello);
  for (const RankProgram& program : prediction.context->programs) {
    ProgramRecord record{program.rank, 0, to_text(program)};
    record.hash = hash_of(record.text);
    publish(program.rank, record);
  }
  const auto pattern = prediction.view->step_range(Obtained::simulated, 1);
  for (int step = 0; step < steps; ++step)
    for (int rank = 0; rank < hello.ranks; ++rank) {
      const std::int64_t shift = step * pattern->length() - pattern->begin_ns;
      const auto number = static_cast<std::uint32_t>(step);
      SpanBatch batch{Obtained::measured, ClockDomain::wall, {}};
      for (Span span : prediction.view->step_spans(Obtained::simulated, 1)) {
        if (span.rank != rank) continue;
        span.step = number;
        span.begin_ns += shift;
        span.active_ns += shift;
        span.end_ns += shift;
        batch.rows.push_back(span);
      }
      MemoryBatch memory{Obtained::measured, ClockDomain::wall, {}};
      memory.rows.push_back({rank,
                             number,
                             batch.rows.front().op,
                             batch.rows.front().begin_ns,
                             {1000, 1000, 2000, 500 * (rank + 1), 250}});
      memory.rows.push_back(
          {rank, number, batch.rows.back().op, batch.rows.back().begin_ns, {1000, 1000, 2000, 0, 250}});
      publish(rank, std::move(batch));
      publish(rank, std::move(memory));
      StepSummary summary;
      summary.rank = rank;
      summary.step = number;
      summary.begin_ns = step * pattern->length();
      summary.end_ns = (step + 1) * pattern->length();
      summary.loss = rank == hello.ranks - 1 ? 4.0 - 0.25 * step : std::nan("");
      summary.gradient_square_norm = rank == 0 ? 9 : 16;
      summary.tokens = rank == hello.ranks - 1 ? scenario.train.global_batch * scenario.model.context : 0;
      publish(rank, summary);
    }
  if (end) publish(-1, End{-1, true, steps - 1, {}});
}

inline std::shared_ptr<RunStore> known_run(const Scenario& scenario, int steps) {
  auto store = std::make_shared<RunStore>();
  EventSender filler(*store);
  publish_run([&](int rank, Event event) { filler.add(rank, std::move(event)); }, scenario, steps);
  return store;
}

}  // namespace rankscope::app
