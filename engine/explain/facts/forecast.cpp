#include "engine/explain/facts/forecast.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "engine/plan/program/ledger.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/predict/fold/folded.hpp"

namespace rankscope {
namespace {

constexpr std::size_t spans_per_batch = 4096;
constexpr int folded_steps = 2;
/// The text of a program is needed for details of an op; writing it for plans of many ranks would make editing slow.
constexpr std::size_t most_ops_with_text = 100'000;

MemoryBatch memory_of(const RankProgram& program, const std::vector<Span>& spans) {
  std::unordered_map<OpId, OpIndex> index;
  for (OpIndex i = 0; i < program.ops.size(); ++i) index.emplace(program.ops[i].id, i);
  std::vector<OpTime> times;
  times.reserve(spans.size());
  for (const Span& span : spans)
    if (const auto found = index.find(span.op); found != index.end())
      times.push_back({found->second, span.step, span.begin_ns, span.end_ns});
  MemoryBatch batch{Obtained::simulated, ClockDomain::device, {}};
  Ledger ledger(program, resident_bytes_of(program));
  for (const AliveFrom& level : memory_along(ledger, times))
    batch.rows.push_back({program.rank, level.step, program.ops[level.op].id, level.time_ns, level.bytes});
  return batch;
}

std::int64_t nanoseconds(double seconds) { return static_cast<std::int64_t>(std::llround(seconds * 1e9)); }

/// A folded rank's memory levels in time: an op's needs while it runs, and then the rest.
std::vector<MemorySample> levels_at(int rank, const std::vector<FoldedSpan>& ops,
                                    const std::vector<MemoryLevel>& levels) {
  std::unordered_map<OpId, const FoldedSpan*> span_of;
  for (const FoldedSpan& span : ops) span_of[span.op] = &span;
  std::vector<MemorySample> samples;
  if (!levels.empty()) samples.push_back({rank, 0, levels.front().op, 0, levels.back().after});  // the previous step's
  for (const MemoryLevel& level : levels) {
    const auto span = span_of.find(level.op);
    if (span == span_of.end()) continue;
    samples.push_back({rank, 0, level.op, nanoseconds(span->second->begin), level.during});
    samples.push_back({rank, 0, level.op, nanoseconds(span->second->end), level.after});
  }
  return samples;
}

/// The first message of a prediction. `hello` has the facts that only the caller has.
Hello completed(Hello hello, const Scenario& scenario, int ranks, int steps) {
  hello.title = scenario.title;
  hello.scenario_toml = to_toml(scenario);
  hello.ranks = ranks;
  hello.steps = steps;
  hello.headline = ClockDomain::device;
  if (!(hello.peak_flops > 0)) hello.peak_flops = scenario.cluster.peak_flops(scenario.compute_type());
  return hello;
}

void publish_spans(int rank, const std::vector<Span>& spans, const EventPublisher& publish) {
  for (std::size_t begin = 0; begin < spans.size(); begin += spans_per_batch) {
    const auto from = spans.begin() + begin;
    const auto to = spans.begin() + std::min(begin + spans_per_batch, spans.size());
    publish(rank, SpanBatch{Obtained::simulated, ClockDomain::device, {from, to}});
  }
}

}  // namespace

void publish_forecast(const Scenario& scenario, const std::vector<RankProgram>& programs,
                      const std::vector<Span>& spans, const EventPublisher& publish, Hello hello) {
  std::uint32_t last_step = 0;
  std::vector<std::vector<Span>> by_rank(programs.size());
  for (const Span& span : spans) {
    last_step = std::max(last_step, span.step);
    by_rank.at(static_cast<std::size_t>(span.rank)).push_back(span);
  }
  publish(-1, completed(std::move(hello), scenario, scenario.plan.ranks(), static_cast<int>(last_step) + 1));
  std::size_t ops = 0;
  for (const RankProgram& program : programs) ops += program.ops.size();
  if (ops <= most_ops_with_text)
    for (const RankProgram& program : programs) {
      ProgramRecord record{program.rank, 0, to_text(program)};
      record.hash = hash_of(record.text);
      publish(program.rank, std::move(record));
    }
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    publish_spans(static_cast<int>(rank), by_rank[rank], publish);
    publish(static_cast<int>(rank), memory_of(programs[rank], by_rank[rank]));
  }
  publish(-1, End{-1, true, last_step, {}, false});
}

int shown_replica(const Scenario& scenario) {
  return scenario.fault.slow_rank >= 0 ? scenario.plan.grid().coordinates_of(scenario.fault.slow_rank).data : 0;
}

void publish_folded_forecast(const Scenario& scenario, double step_seconds, const EventPublisher& publish,
                             Hello hello) {
  publish(-1, completed(std::move(hello), scenario, scenario.plan.pipeline, folded_steps));
  const RankGrid grid = scenario.plan.grid();
  const int replica = shown_replica(scenario);
  for (int stage = 0; stage < scenario.plan.pipeline; ++stage) {
    const int rank = grid.rank_of({0, replica, stage});
    const std::vector<FoldedSpan> ops = fold_timeline(scenario, rank);
    const std::vector<MemorySample> levels = levels_at(stage, ops, fold_levels(scenario, rank));
    std::vector<Span> spans;
    MemoryBatch memory{Obtained::simulated, ClockDomain::device, {}};
    for (int step = 0; step < folded_steps; ++step) {
      const std::int64_t shift = step * nanoseconds(step_seconds);
      for (const FoldedSpan& op : ops) {
        Span span;
        span.rank = stage;
        span.step = static_cast<std::uint32_t>(step);
        span.op = op.op;
        span.begin_ns = span.active_ns = shift + nanoseconds(op.begin);
        span.end_ns = shift + nanoseconds(op.end);
        spans.push_back(span);
      }
      for (MemorySample sample : levels) {
        sample.step = static_cast<std::uint32_t>(step);
        sample.time_ns += shift;
        memory.rows.push_back(sample);
      }
    }
    publish_spans(stage, spans, publish);
    publish(stage, std::move(memory));
  }
  publish(-1, End{-1, true, folded_steps - 1, {}, false});
}

}  // namespace rankscope
