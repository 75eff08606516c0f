// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/range_statistics.hpp"

#include <algorithm>
#include <map>

#include "app/models/palette.hpp"
#include "app/models/time_axis.hpp"
#include "app/models/translated.hpp"

namespace rankscope {

RangeStatistics statistics_of(const StoreView& view, Obtained obtained, TimeRange range,
                              const std::function<bool(std::int32_t rank)>& only) {
  RangeStatistics result;
  result.range = range;
  result.mean.rank = -1;
  if (range.empty()) return result;
  std::map<std::int32_t, RankShare> ranks;
  for (const LaneKey& lane : view.lanes()) {
    if (lane.obtained != obtained || (only && !only(lane.rank))) continue;
    PixelShare share;
    view.shares(lane, range, {&share, 1});
    RankShare& rank = ranks[lane.rank];
    rank.rank = lane.rank;
    const auto of = [&](SpanClass kind) { return static_cast<double>(share.busy[static_cast<std::size_t>(kind)]); };
    if (is_compute(lane.lane)) {
      for (std::size_t c = 0; c < span_class_count; ++c) rank.compute[c] = static_cast<double>(share.busy[c]);
      rank.unknown = static_cast<double>(share.unknown);
    } else {
      rank.transfer = std::max(rank.transfer, of(SpanClass::transfer));
      rank.collective = std::max(rank.collective, of(SpanClass::collective));
    }
  }
  for (auto& [number, rank] : ranks) {
    double used = rank.unknown;
    for (const double part : rank.compute) used += part;
    rank.idle = std::max(0.0, 1 - used);
    for (std::size_t c = 0; c < span_class_count; ++c) result.mean.compute[c] += rank.compute[c];
    result.mean.idle += rank.idle;
    result.mean.unknown += rank.unknown;
    result.mean.transfer += rank.transfer;
    result.mean.collective += rank.collective;
    result.ranks.push_back(rank);
  }
  const double count = std::max<double>(static_cast<double>(result.ranks.size()), 1);
  for (double& part : result.mean.compute) part /= count;
  for (double* part : {&result.mean.idle, &result.mean.unknown, &result.mean.transfer, &result.mean.collective})
    *part /= count;
  return result;
}

std::string summary_of(const RangeStatistics& statistics) {
  std::vector<std::pair<double, std::string>> parts;
  for (std::size_t c = 0; c < span_class_count; ++c)
    parts.emplace_back(statistics.mean.compute[c], named(name_of(static_cast<SpanClass>(c))));
  parts.emplace_back(statistics.mean.idle, translated("idle"));
  parts.emplace_back(statistics.mean.unknown, translated("unknown"));
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text = duration_text(statistics.range.length());
  for (const auto& [share, name] : parts)
    if (share >= 0.0005) text += " · " + name + " " + percent_text(share);
  if (statistics.mean.transfer >= 0.0005)
    text += " · " + translated("links busy %1", percent_text(statistics.mean.transfer));
  if (statistics.mean.collective >= 0.0005)
    text += " · " + translated("collectives %1", percent_text(statistics.mean.collective));
  return text;
}

}  // namespace rankscope
