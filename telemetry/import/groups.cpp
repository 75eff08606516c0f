#include "telemetry/import/groups.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "telemetry/import/align.hpp"

namespace rankscope::import {
namespace {

bool is_unnamed(const RankTrace& trace, const TracedSpan& span) {
  return span.exchange >= 0 && trace.exchanges[static_cast<std::size_t>(span.exchange)].group < 0;
}

/// Spans of the collectives without a group, by begin.
std::vector<const TracedSpan*> unnamed_collectives(const RankTrace& trace) {
  std::vector<const TracedSpan*> spans;
  for (const TracedSpan& span : trace.spans)
    if (is_unnamed(trace, span) && is_collective(span.kind)) spans.push_back(&span);
  return spans;
}

using Collectives = std::vector<std::vector<const TracedSpan*>>;  ///< [trace]

bool have_the_same(const std::vector<RankTrace>& traces, const Collectives& of_ranks) {
  for (std::size_t t = 1; t < traces.size(); ++t) {
    if (of_ranks[t].size() != of_ranks[0].size()) return false;
    for (std::size_t i = 0; i < of_ranks[0].size(); ++i) {
      const TracedSpan &mine = *of_ranks[t][i], &first = *of_ranks[0][i];
      const auto bytes = [](const RankTrace& trace, const TracedSpan& span) {
        return trace.exchanges[static_cast<std::size_t>(span.exchange)].bytes;
      };
      // Members may give parts of different sizes to all but these two.
      const bool is_of_one_size = mine.kind == OpKind::all_reduce || mine.kind == OpKind::broadcast;
      if (mine.kind != first.kind || mine.step != first.step ||
          (is_of_one_size && bytes(traces[t], mine) != bytes(traces[0], first)))
        return false;
    }
  }
  return true;
}

/// Groups that are parts of the world would have ends of their own.
bool end_together(const Collectives& of_ranks) {
  constexpr std::int64_t most_apart_ns = 1'000'000;
  return std::ranges::all_of(of_ranks, [&](const std::vector<const TracedSpan*>& own) {
    std::vector<CommonEnd> ends;
    for (std::size_t i = 0; i < own.size(); ++i) ends.push_back({own[i]->end_ns, of_ranks[0][i]->end_ns});
    return fit(std::move(ends)).uncertainty_ns <= most_apart_ns;
  });
}

void put_in_world(RankTrace& trace, std::size_t ranks) {
  const auto group = static_cast<int>(trace.groups.size());
  trace.groups.push_back({"all ranks", "", std::vector<int>(ranks)});
  std::iota(trace.groups.back().ranks.begin(), trace.groups.back().ranks.end(), 0);
  const auto lane = static_cast<std::uint32_t>(trace.lanes.size());
  trace.lanes.push_back({"collectives of all ranks", TracedUse::communication});
  for (TracedSpan& span : trace.spans) {
    if (!is_unnamed(trace, span) || !is_collective(span.kind)) continue;
    trace.exchanges[static_cast<std::size_t>(span.exchange)].group = group;
    span.lane = lane;
  }
}

}  // namespace

void find_unnamed_groups(std::vector<RankTrace>& traces) {
  Collectives of_ranks;
  for (const RankTrace& trace : traces) of_ranks.push_back(unnamed_collectives(trace));
  const bool is_whole = traces.size() > 1 && std::ranges::all_of(traces, [&](const RankTrace& trace) {
                          return trace.world_size < 0 || static_cast<std::size_t>(trace.world_size) == traces.size();
                        });
  const bool are_of_world =
      is_whole && !of_ranks[0].empty() && have_the_same(traces, of_ranks) && end_together(of_ranks);
  for (std::size_t t = 0; t < traces.size(); ++t) {
    if (of_ranks[t].empty()) continue;
    if (are_of_world) put_in_world(traces[t], traces.size());
    traces[t].remarks.push_back(
        are_of_world ? "some collectives do not say their process group: they are taken to be of all ranks, since all "
                       "ranks have the same ones in the same order, and they end together"
                     : "some collectives do not say their process group: who takes part in them is not known, so they "
                       "are not matched between ranks, and waiting in them counts as moving bytes");
  }
}

}  // namespace rankscope::import
