// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/timeline_rows.hpp"

#include <algorithm>

namespace rankscope {
namespace {

// The look of an open band. A height of 0 leaves the rows out.
struct Density {
  int compute, ghost, communication;
  int row_gap, band_gap;
  bool open;
};
constexpr Density densities[] = {
    {64, 14, 10, 4, 28, true}, {52, 12, 9, 3, 24, true}, {40, 10, 8, 3, 18, true}, {32, 9, 7, 2, 14, true},
    {26, 8, 5, 2, 10, true},   {20, 6, 4, 1, 8, true},   {18, 6, 0, 2, 8, true},   {16, 0, 0, 0, 5, false},
    {12, 0, 0, 0, 3, false},   {8, 0, 0, 0, 2, false},
};
constexpr Density largest{96, 14, 10, 4, 48, true};  // more height than this helps nobody
constexpr Density opened_by_hand{32, 9, 7, 2, 14, true};
constexpr Density folded_by_hand{14, 0, 0, 0, 8, false};

TimelineRows lay_out(const std::vector<LaneSet>& ranks, bool with_prediction,
                     const std::map<std::int32_t, bool>& chosen_open, const Density& general, int text_height) {
  TimelineRows result;
  int y = general.band_gap / 2;
  for (const LaneSet& lanes : ranks) {
    const auto chosen = chosen_open.find(lanes.rank);
    const Density& look = chosen == chosen_open.end() || chosen->second == general.open ? general
                          : chosen->second                                              ? opened_by_hand
                                                                                        : folded_by_hand;
    RankBand band{lanes.rank, y, 0, look.open, result.rows.size(), 0};
    const auto add = [&](RowKind kind, Lane lane, int height) {
      if (height == 0) return;
      if (y != band.y) y += look.row_gap;
      result.rows.push_back({kind, lanes.rank, 1, lane, y, height});
      y += height;
    };
    add(RowKind::compute, Lane::compute, look.compute);
    if (with_prediction) add(RowKind::ghost, Lane::compute, look.ghost);
    for (const Lane lane : lanes.communication) add(RowKind::communication, lane, look.communication);
    // Two lines of label (rank, stage) beside an open band, without running into the next one.
    if (look.open) y = std::max(y, band.y + std::min(2 * text_height, look.compute + 2 * look.band_gap));
    band.row_count = result.rows.size() - band.first_row;
    band.height = y - band.y;
    result.bands.push_back(band);
    y += look.band_gap;
  }
  result.height = y;
  return result;
}

}  // namespace

std::optional<std::size_t> TimelineRows::row_at(int y) const {
  auto next = std::upper_bound(rows.begin(), rows.end(), y, [](int at, const TimelineRow& row) { return at < row.y; });
  if (next == rows.begin()) return std::nullopt;
  --next;
  if (y >= next->bottom()) return std::nullopt;
  return static_cast<std::size_t>(next - rows.begin());
}

std::optional<std::size_t> TimelineRows::band_at(int y) const {
  auto next = std::upper_bound(bands.begin(), bands.end(), y, [](int at, const RankBand& band) { return at < band.y; });
  if (next == bands.begin() || y >= height) return std::nullopt;
  return static_cast<std::size_t>(next - bands.begin()) - 1;
}

std::optional<std::size_t> TimelineRows::find(std::int32_t rank, RowKind kind, Lane lane) const {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].rank <= rank && rank < rows[i].rank + rows[i].rank_count && rows[i].kind == kind &&
        rows[i].lane == lane)
      return i;
  return std::nullopt;
}

std::vector<LaneSet> lane_sets(const std::vector<LaneKey>& lanes, Obtained obtained, std::int32_t ranks) {
  std::int32_t count = ranks;
  for (const LaneKey& key : lanes)
    if (key.obtained == obtained) count = std::max(count, key.rank + 1);
  std::vector<LaneSet> result(static_cast<std::size_t>(std::max(count, 0)));
  for (std::size_t r = 0; r < result.size(); ++r) result[r].rank = static_cast<std::int32_t>(r);
  for (const LaneKey& key : lanes)
    if (key.obtained == obtained && key.rank >= 0 && key.lane != Lane::compute)
      result[static_cast<std::size_t>(key.rank)].communication.push_back(key.lane);
  for (LaneSet& set : result) std::sort(set.communication.begin(), set.communication.end());
  return result;
}

TimelineRows lay_out_rows(const std::vector<LaneSet>& ranks, bool with_prediction,
                          const std::map<std::int32_t, bool>& chosen_open, int available, int text_height) {
  // What a person folded or opened does not change how large the others are: the first arrangement that fits all
  // ranks untouched is the one.
  const Density* look = std::begin(densities);
  int height = lay_out(ranks, with_prediction, {}, *look, text_height).height;
  while (height > available && look + 1 != std::end(densities))
    height = lay_out(ranks, with_prediction, {}, *++look, text_height).height;
  Density fitted = *look;
  if (height <= available && !ranks.empty()) {
    // The room that is left goes to the compute lanes, then between the bands, up to the next larger arrangement.
    const Density& larger = look == std::begin(densities) ? largest : look[-1];
    const int spare = (available - height) / static_cast<int>(ranks.size());
    const int taller = std::min(spare, larger.compute - look->compute);
    fitted.compute += taller;
    fitted.band_gap += std::min(spare - taller, std::max(larger.band_gap - look->band_gap, 0));
  }
  return lay_out(ranks, with_prediction, chosen_open, fitted, text_height);
}

TimelineRows lay_out_overview(std::int32_t ranks, int height) {
  TimelineRows result;
  result.height = height;
  if (ranks <= 0 || height <= 0) return result;
  const int count = std::min(ranks, height / 2 > 0 ? height / 2 : 1);
  for (int i = 0; i < count; ++i) {
    const std::int32_t first = ranks * i / count, last = ranks * (i + 1) / count;
    const int y = height * i / count, bottom = height * (i + 1) / count;
    const int gap = bottom - y > 3 ? 1 : 0;
    result.rows.push_back({RowKind::compute, first, last - first, Lane::compute, y, bottom - y - gap});
  }
  return result;
}

}  // namespace rankscope
