#include "engine/explain/analyse/range.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "engine/op/not_known.hpp"

namespace rankscope {
namespace {

std::vector<Span> compute_of(const AnalysedStep& step, int rank) {
  std::vector<Span> spans;
  for (const Span& span : step.spans)
    if (span.rank == rank && span.op.valid() && is_compute(span.op.lane())) spans.push_back(span);
  std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin_ns < b.begin_ns; });
  return spans;
}

TimeRange cut(TimeRange range, TimeRange to) {
  const TimeRange result{std::max(range.begin_ns, to.begin_ns), std::min(range.end_ns, to.end_ns)};
  return result.empty() ? TimeRange{result.begin_ns, result.begin_ns} : result;
}

/// The rank's idle stretches within the range.
std::vector<BubbleStretch> stretches_in(const StepAnalysis& step, int rank, TimeRange range) {
  std::vector<BubbleStretch> result;
  for (BubbleStretch stretch : step.stretches) {
    if (stretch.rank != rank) continue;
    stretch.begin_ns = std::max(stretch.begin_ns, range.begin_ns);
    stretch.end_ns = std::min(stretch.end_ns, range.end_ns);
    if (stretch.length_ns() > 0) result.push_back(stretch);
  }
  return result;
}

RangeTime time_in(const AnalysedStep& step, int rank, TimeRange range) {
  RangeTime time;
  time.range = range;
  const auto add = [&](TimeClass kind, std::int64_t ns) {
    time.seconds[static_cast<std::size_t>(kind)] += static_cast<double>(ns) * 1e-9;
  };
  std::int64_t covered = range.begin_ns;
  for (const Span& span : compute_of(step, rank)) {
    const std::int64_t begin = std::max(span.begin_ns, covered), end = std::min(span.end_ns, range.end_ns);
    if (begin >= end) continue;
    add(time_class_of(span.op.kind()), end - begin);
    covered = end;
  }
  for (const BubbleStretch& stretch : stretches_in(step.analysis, rank, range)) {
    add(stretch.time, stretch.length_ns());
    if (stretch.time == TimeClass::other && stretch.cause == BubbleCause::unknown)
      time.unknown += static_cast<double>(stretch.length_ns()) * 1e-9;
  }
  return time;
}

/// The analysis of each rank's own time range, as shares of one length, so that explain_gap can compare two of them.
StepAnalysis as_analysis(const AnalysedStep& step, const std::vector<RangeTime>& times, double length_s) {
  StepAnalysis result;
  result.step = step.analysis.step;
  result.workers = step.analysis.workers;
  result.range = {0, std::llround(length_s * 1e9)};
  for (std::size_t rank = 0; rank < times.size(); ++rank) {
    StepShares shares;
    for (std::size_t c = 0; c < time_class_count; ++c)
      shares.share[c] = length_s > 0 ? times[rank].seconds[c] / length_s : 0;
    result.ranks.push_back(shares);
    const auto some = stretches_in(step.analysis, static_cast<int>(rank), times[rank].range);
    result.stretches.insert(result.stretches.end(), some.begin(), some.end());
  }
  return result;
}

/// Over the workers.
double mean_length(const std::vector<RangeTime>& times, int workers) {
  double sum = 0;
  const std::size_t count = std::min(times.size(), static_cast<std::size_t>(std::max(workers, 0)));
  for (std::size_t r = 0; r < count; ++r) sum += times[r].length_s();
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

}  // namespace

double RangeTime::share(TimeClass time) const {
  return range.empty() ? not_known : seconds[static_cast<std::size_t>(time)] / length_s();
}

TimeRange counterpart_of(const AnalysedStep& from, const AnalysedStep& to, int rank, TimeRange range) {
  std::unordered_map<OpId, Span> there;
  for (const Span& span : compute_of(to, rank))
    if (span.step == to.analysis.step) there.emplace(span.op, span);
  // Events that both steps have, in order.
  std::vector<std::pair<std::int64_t, std::int64_t>> knots{{from.analysis.range.begin_ns, to.analysis.range.begin_ns}};
  const auto knot = [&](std::int64_t here, std::int64_t other) {
    if (here >= knots.back().first && other >= knots.back().second && here <= from.analysis.range.end_ns &&
        other <= to.analysis.range.end_ns)
      knots.emplace_back(here, other);
  };
  for (const Span& span : compute_of(from, rank)) {
    if (span.step != from.analysis.step) continue;
    const auto same = there.find(span.op);
    if (same == there.end()) continue;
    knot(span.begin_ns, same->second.begin_ns);
    knot(span.end_ns, same->second.end_ns);
  }
  knots.emplace_back(from.analysis.range.end_ns, to.analysis.range.end_ns);
  const auto mapped = [&](std::int64_t time) -> std::int64_t {
    const auto after =
        std::upper_bound(knots.begin(), knots.end(), time, [](std::int64_t t, const auto& k) { return t < k.first; });
    if (after == knots.begin()) return knots.front().second;
    if (after == knots.end()) return knots.back().second;
    const auto before = std::prev(after);
    const double share = static_cast<double>(time - before->first) /
                         static_cast<double>(std::max<std::int64_t>(after->first - before->first, 1));
    return before->second + std::llround(share * static_cast<double>(after->second - before->second));
  };
  // The rank that begins one step may wait at the begin of the other; that wait is part of the complete step.
  const bool from_begin = range.begin_ns <= from.analysis.range.begin_ns;
  return {from_begin ? to.analysis.range.begin_ns : mapped(range.begin_ns), mapped(range.end_ns)};
}

RangeAnalysis analyse_range(const AnalysedStep& measured, const AnalysedStep* predicted, const AnalysedStep* ideal,
                            TimeRange range) {
  RangeAnalysis result;
  result.step = measured.analysis.step;
  result.workers = measured.analysis.workers;
  result.range = range.empty() ? measured.analysis.range : cut(range, measured.analysis.range);
  std::vector<RangeTime> here, there;
  const bool compares = predicted != nullptr && predicted->analysis.ranks.size() == measured.analysis.ranks.size();
  for (std::size_t r = 0; r < measured.analysis.ranks.size(); ++r) {
    const int rank = static_cast<int>(r);
    if (r < measured.analysis.absent.size() && measured.analysis.absent[r]) continue;
    RangeRow row;
    row.rank = rank;
    row.measured = time_in(measured, rank, result.range);
    here.push_back(row.measured);
    if (compares) {
      row.predicted = time_in(*predicted, rank, counterpart_of(measured, *predicted, rank, result.range));
      there.push_back(*row.predicted);
    }
    if (ideal != nullptr && r < ideal->analysis.ranks.size())
      row.ideal = time_in(*ideal, rank, counterpart_of(measured, *ideal, rank, result.range));
    result.ranks.push_back(std::move(row));
  }
  result.predicted_s = mean_length(there, result.workers);
  if (compares && result.predicted_s > 0)
    result.gap = explain_gap(as_analysis(*predicted, there, result.predicted_s),
                             as_analysis(measured, here, mean_length(here, result.workers)));
  return result;
}

}  // namespace rankscope
