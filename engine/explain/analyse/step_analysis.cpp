#include "engine/explain/analyse/step_analysis.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <span>

#include "engine/explain/analyse/causes.hpp"
#include "engine/op/word_list.hpp"
#include "engine/plan/program/link.hpp"

namespace rankscope {
namespace {

/// Nanoseconds of a rank by class within the step; the classes fill it.
struct RankTime {
  std::array<std::int64_t, time_class_count> ns{};
  std::int64_t unknown = 0;
  std::int64_t& operator[](TimeClass time) { return ns[static_cast<std::size_t>(time)]; }
};

RankTime rank_time(const analysis::StepIndex& index, int rank, TimeRange range,
                   std::span<const BubbleStretch> stretches) {
  RankTime time;
  std::int64_t covered = range.begin_ns;  // a lane runs in order, so overlaps are counted once
  for (const analysis::SpanAt at : index.compute(rank)) {
    const Span& span = index[at];
    const std::int64_t begin = std::max(span.begin_ns, covered), end = std::min(span.end_ns, range.end_ns);
    if (begin >= end) continue;
    time[time_class_of(span.op.kind())] += end - begin;
    covered = end;
  }
  for (const BubbleStretch& stretch : stretches) {
    time[stretch.time] += stretch.length_ns();
    if (stretch.time == TimeClass::other && stretch.cause == BubbleCause::unknown) time.unknown += stretch.length_ns();
  }
  assert(std::accumulate(time.ns.begin(), time.ns.end(), std::int64_t{0}) == range.length());
  return time;
}

StepShares shares_of(RankTime time, TimeRange range) {
  StepShares shares;
  const auto length = static_cast<double>(range.length());
  for (std::size_t c = 0; c < time_class_count; ++c) shares.share[c] = static_cast<double>(time.ns[c]) / length;
  shares.unknown = static_cast<double>(time.unknown) / length;
  return shares;
}

StepShares average_of(const std::vector<StepShares>& ranks) {
  StepShares average;
  for (const StepShares& of : ranks) {
    for (std::size_t c = 0; c < time_class_count; ++c) average.share[c] += of.share[c];
    average.unknown += of.unknown;
  }
  for (double& share : average.share) share /= static_cast<double>(ranks.size());
  average.unknown /= static_cast<double>(ranks.size());
  return average;
}

/// From a rank's first to its last op of model compute in the step, within its range.
TimeRange own_span(const analysis::StepIndex& index, int rank, TimeRange range) {
  TimeRange own{range.end_ns, range.begin_ns};
  for (const analysis::SpanAt at : index.compute(rank)) {
    if (index[at].step != index.step() || !is_model_compute(index[at].op.kind())) continue;
    own.begin_ns = std::min(own.begin_ns, index[at].begin_ns);
    own.end_ns = std::max(own.end_ns, index[at].end_ns);
  }
  return {std::max(own.begin_ns, range.begin_ns), std::min(own.end_ns, range.end_ns)};
}

}  // namespace

constexpr auto bubble_cause_names =
    word_list("warm-up", "first gradient", "cool-down", "schedule", "waiting for peers", "imbalance",
              "exposed communication", "straggler", "waiting for workers", "overhead", "unknown");
static_assert(bubble_cause_names.size() == static_cast<int>(BubbleCause::unknown) + 1);
std::string_view name_of(BubbleCause cause) { return word_at(bubble_cause_names, cause); }

TimeClass time_class_of(Purpose purpose) {
  switch (purpose) {
    case Purpose::none: return TimeClass::other;
    case Purpose::tensor:
    case Purpose::loss: return TimeClass::tensor;
    case Purpose::pipeline_forward:
    case Purpose::pipeline_backward:
    case Purpose::embedding: return TimeClass::pipeline;
    case Purpose::data_gradient:
    case Purpose::norm:
    case Purpose::server:
    case Purpose::data_parameter:
    case Purpose::batch:
    case Purpose::alone:
    case Purpose::replica_loss: return TimeClass::data;
    case Purpose::offload: return TimeClass::optimizer;
    case Purpose::zero_parameter:
    case Purpose::zero_gradient: return TimeClass::zero;
  }
  return TimeClass::other;
}

TimeClass time_class_of(OpKind kind) {
  switch (kind) {
    case OpKind::forward:
    case OpKind::backward:
    case OpKind::input_gradient:
    case OpKind::weight_gradient:
    case OpKind::compute: return TimeClass::compute;
    case OpKind::recompute: return TimeClass::recompute;
    case OpKind::optimizer: return TimeClass::optimizer;
    case OpKind::send:
    case OpKind::receive:
    case OpKind::broadcast:
    case OpKind::scatter:
    case OpKind::reduce:
    case OpKind::all_reduce:
    case OpKind::gather:
    case OpKind::all_gather:
    case OpKind::reduce_scatter:
    case OpKind::all_to_all:
    case OpKind::copy:
    case OpKind::load_batch:
    case OpKind::checkpoint:
    case OpKind::check: return TimeClass::other;
  }
  return TimeClass::other;
}

double StepShares::sum() const { return std::accumulate(share.begin(), share.end(), 0.0); }

StepAnalysis analyse_step(const Step& linked, const std::vector<Span>& spans, TimeRange range, std::uint32_t number,
                          std::optional<Planned> planned) {
  StepAnalysis result;
  result.step = number;
  result.range = range;
  result.workers = static_cast<int>(linked.workers());
  if (range.empty()) return result;
  const analysis::StepIndex index(linked, spans, number, planned);
  result.missing_spans = index.missing();

  std::vector<StepShares> workers;
  std::int64_t bubble = 0, bubble_inside = 0, inside = 0;
  analysis::IdleTimes idle = analysis::idle_times(index, range);
  result.stretches = std::move(idle.stretches);
  result.slowness = std::move(idle.slowness);
  auto next = result.stretches.begin();
  for (int rank = 0; rank < index.ranks(); ++rank) {
    const auto first = next;
    while (next != result.stretches.end() && next->rank == rank) ++next;
    const std::span<const BubbleStretch> stretches(first, next);
    RankTime time = rank_time(index, rank, range, stretches);
    result.ranks.push_back(shares_of(time, range));
    result.absent.push_back(linked.is_absent(static_cast<std::size_t>(rank)));
    if (result.absent.back()) continue;
    if (index.serves(rank)) continue;  // it has no model to compute: its idle time is not bubble
    workers.push_back(result.ranks.back());
    bubble += time[TimeClass::bubble];
    if (const TimeRange own = own_span(index, rank, range); !own.empty()) {
      inside += own.length();
      for (const BubbleStretch& s : stretches)
        if (s.time == TimeClass::bubble)
          bubble_inside +=
              std::max<std::int64_t>(0, std::min(s.end_ns, own.end_ns) - std::max(s.begin_ns, own.begin_ns));
    }
  }
  result.average = average_of(workers);
  result.bubble = static_cast<double>(bubble) / (static_cast<double>(range.length()) * result.workers);
  if (inside > 0) result.bubble_span = static_cast<double>(bubble_inside) / static_cast<double>(inside);
  return result;
}

StepAnalysis analyse_step(const std::vector<RankProgram>& programs, const RankGrid& grid,
                          const std::vector<Span>& spans, TimeRange range, std::uint32_t number) {
  return analyse_step(link(programs, grid), spans, range, number, Planned{&programs, grid});
}

TimeRange step_range(const std::vector<Span>& spans, std::uint32_t step) {
  constexpr auto never = std::numeric_limits<std::int64_t>::max();
  std::int64_t begin = never, next = never, end = std::numeric_limits<std::int64_t>::min();
  for (const Span& span : spans) {
    const bool compute = is_compute(span.op.lane());
    if (span.step == step) {
      end = std::max(end, span.end_ns);
      if (compute) begin = std::min(begin, span.begin_ns);
    } else if (span.step == step + 1 && compute) {
      next = std::min(next, span.begin_ns);
    }
  }
  if (begin == never) return {};
  return {begin, next == never ? end : next};
}

StepAnalysis analyse_simulation(const Step& linked, const Planned& planned, const Simulation& simulation,
                                std::int64_t step) {
  std::size_t steps = 0;
  for (const Span& span : simulation.spans) steps = std::max(steps, std::size_t{span.step} + 1);
  const auto which = static_cast<std::uint32_t>(step < 0 ? steady_step(steps) : static_cast<std::size_t>(step));
  return analyse_step(linked, simulation.spans, step_range(simulation.spans, which), which, planned);
}

StepAnalysis analyse_simulation(const std::vector<RankProgram>& programs, const RankGrid& grid,
                                const Simulation& simulation, std::int64_t step) {
  return analyse_simulation(link(programs, grid), Planned{&programs, grid}, simulation, step);
}

}  // namespace rankscope
