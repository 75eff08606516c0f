#include "telemetry/import/align.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

namespace rankscope::import {
namespace {

/// A collective of one process group in one step: the sequence number, else the place among the group's of that name.
using Meeting = std::tuple<std::vector<int>, std::string, std::string, std::uint32_t, std::int64_t>;
using Ends = std::map<Meeting, std::int64_t>;

/// Members of the others wait for the root only, or it for them.
bool ends_together(OpKind kind) {
  return kind == OpKind::all_reduce || kind == OpKind::all_gather || kind == OpKind::reduce_scatter ||
         kind == OpKind::all_to_all;
}

/// Without sequence numbers a place is counted from the step's first one, or back from its last one.
Ends ends_of(const RankTrace& trace, bool from_last) {
  using Series = std::tuple<int, std::uint32_t, std::uint32_t>;  // group, name, step
  std::map<Series, std::int64_t> next;
  const auto visit = [&](const auto& take) {
    for (const TracedSpan& span : trace.spans) {
      if (span.exchange < 0 || !ends_together(span.kind)) continue;
      const TracedExchange& exchange = trace.exchanges[static_cast<std::size_t>(span.exchange)];
      if (exchange.group >= 0) take(span, exchange, next[{exchange.group, span.name, span.step}]);
    }
  };
  if (from_last) visit([](const TracedSpan&, const TracedExchange&, std::int64_t& place) { --place; });
  Ends ends;
  visit([&](const TracedSpan& span, const TracedExchange& exchange, std::int64_t& place) {
    const TracedGroup& group = trace.groups[static_cast<std::size_t>(exchange.group)];
    ends[{group.ranks, group.name, trace.names[span.name], span.step,
          exchange.sequence >= 0 ? exchange.sequence : place}] = span.end_ns;
    ++place;
  });
  return ends;
}

std::int64_t median_of(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The median slope between the ends' first and last third (Theil and Sen's estimate, of pairs far apart).
double slope_of(const std::vector<CommonEnd>& ends) {
  const std::size_t third = ends.size() / 3;
  std::vector<double> slopes;
  for (std::size_t i = 0; i < third; ++i) {
    const CommonEnd &a = ends[i], &b = ends[ends.size() - third + i];
    if (b.mine_ns == a.mine_ns) continue;
    slopes.push_back(static_cast<double>((b.mine_ns - b.reference_ns) - (a.mine_ns - a.reference_ns)) /
                     static_cast<double>(b.mine_ns - a.mine_ns));
  }
  if (slopes.empty()) return 0;
  const auto middle = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
  std::nth_element(slopes.begin(), middle, slopes.end());
  return *middle;
}

/// One clock for all ranks of a host, unless the ends say clearly that it is not: a device's times are converted to the
/// host's by each process for itself.
bool is_same_clock(const ClockFit& fit) {
  constexpr std::int64_t usual_spread_ns = 200'000;
  return std::abs(fit.offset_ns) <= std::max(usual_spread_ns, 20 * fit.uncertainty_ns) && std::abs(fit.drift) < 2e-5;
}

}  // namespace

std::int64_t ClockFit::aligned(std::int64_t raw_ns) const {
  return raw_ns - offset_ns - std::llround(drift * static_cast<double>(raw_ns - at_ns));
}

ClockFit fit(std::vector<CommonEnd> ends) {
  constexpr std::size_t least_for_slope = 12;
  constexpr double least_ratio = 4;    // of the slope to its uncertainty
  constexpr double most_drift = 2e-4;  // more than quartz has: some ends are of different collectives
  ClockFit result;
  result.points = ends.size();
  if (ends.empty()) return result;
  std::sort(ends.begin(), ends.end(), [](const CommonEnd& a, const CommonEnd& b) { return a.mine_ns < b.mine_ns; });
  result.at_ns = ends[ends.size() / 2].mine_ns;
  const auto settle = [&] {
    std::vector<std::int64_t> differences;
    for (const CommonEnd& end : ends)
      differences.push_back(end.mine_ns - end.reference_ns -
                            std::llround(result.drift * static_cast<double>(end.mine_ns - result.at_ns)));
    result.offset_ns = median_of(differences);
    for (std::int64_t& difference : differences) difference = std::abs(difference - result.offset_ns);
    result.uncertainty_ns = median_of(std::move(differences));
  };
  result.drift = ends.size() >= least_for_slope ? slope_of(ends) : 0;
  settle();
  const auto length = static_cast<double>(ends.back().mine_ns - ends.front().mine_ns);
  const double uncertain = 3.0 * static_cast<double>(result.uncertainty_ns) /
                           (std::sqrt(static_cast<double>(ends.size())) * std::max(length, 1.0));
  if (std::abs(result.drift) < least_ratio * uncertain || std::abs(result.drift) > most_drift) {
    result.drift = 0;
    settle();
  }
  return result;
}

std::vector<ClockFit> align(std::span<const RankTrace> traces) {
  std::vector<ClockFit> fits(traces.size());
  std::vector<bool> aligned(traces.size(), false);
  if (traces.empty()) return fits;
  std::array<std::vector<Ends>, 2> ends;  // counted from the first, and from the last
  for (const RankTrace& trace : traces)
    for (const bool from_last : {false, true}) ends[from_last].push_back(ends_of(trace, from_last));
  aligned[0] = true;
  for (bool more = true; more;) {
    more = false;
    for (std::size_t t = 0; t < traces.size(); ++t) {
      if (aligned[t]) continue;
      const auto compared = [&](const std::vector<Ends>& of) {
        std::vector<CommonEnd> common;
        for (std::size_t other = 0; other < traces.size(); ++other) {
          if (!aligned[other]) continue;
          for (const auto& [meeting, mine] : of[t])
            if (const auto theirs = of[other].find(meeting); theirs != of[other].end())
              common.push_back({mine, fits[other].aligned(theirs->second)});
          if (!common.empty()) break;  // the first aligned rank that it meets: by more of them errors would not shrink
        }
        return fit(std::move(common));
      };
      // Where a rank has lost some, one of both counts is right for most of the others.
      fits[t] = compared(ends[0]);
      if (fits[t].points == 0) continue;
      if (const ClockFit back = compared(ends[1]); back.uncertainty_ns < fits[t].uncertainty_ns) fits[t] = back;
      for (std::size_t other = 0; other < traces.size(); ++other)
        if (aligned[other] && !traces[t].host.empty() && traces[other].host == traces[t].host &&
            is_same_clock(fits[t]) && fits[other].offset_ns == 0 && fits[other].drift == 0) {
          fits[t].offset_ns = 0;
          fits[t].drift = 0;
          fits[t].is_shared = true;
          break;
        }
      aligned[t] = more = true;
    }
  }
  return fits;
}

}  // namespace rankscope::import
