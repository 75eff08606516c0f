// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/timeline_rows.hpp"

#include <algorithm>

namespace rankscope {
namespace {

// The sizes of an open band. Rows with height 0 are omitted.
struct Density {
  int compute, ghost, communication;
  int row_gap, band_gap;
  bool open;
};
constexpr Density densities[] = {
    {64, 14, 10, 4, 28, true}, {52, 12, 9, 3, 24, true}, {40, 10, 8, 3, 18, true}, {32, 9, 7, 2, 14, true},
    {26, 8, 5, 2, 10, true},   {20, 6, 4, 1, 8, true},   {18, 5, 4, 1, 5, true},   {18, 4, 3, 1, 3, true},
    {18, 4, 2, 0, 3, true},    {18, 6, 0, 2, 8, true},   {18, 5, 0, 1, 5, true},   {16, 0, 0, 0, 5, false},
    {12, 0, 0, 0, 3, false},   {8, 0, 0, 0, 2, false},
};
constexpr Density largest{96, 14, 10, 4, 48, true};  // larger rows do not help
constexpr Density opened_by_hand{32, 9, 7, 2, 14, true};
constexpr Density folded_by_hand{14, 0, 0, 0, 8, false};
constexpr Density in_a_group{26, 8, 5, 2, 10, true};  // if groups are closed by default

// A closed group's heat row and the gap under it.
constexpr std::pair<int, int> group_rows[] = {{72, 16}, {56, 14}, {44, 10}, {34, 8}, {26, 6}, {20, 5}, {16, 3}};
constexpr int open_group_row = 14, under_open_group = 6, under_pinned = 10;
// Pinned ranks leave at least this share of the height to the others.
constexpr double most_pinned = 0.6;

class Layout {
 public:
  Layout(const std::vector<LaneSet>& ranks, bool with_prediction, const RowChoice& choice, int text_height)
      : ranks_(ranks), with_prediction_(with_prediction), choice_(choice), text_height_(text_height) {}

  TimelineRows of(const Density& general, std::pair<int, int> group_row, int available) {
    rows_ = {};
    rows_.groups = choice_.groups;
    y_ = general.band_gap / 2;
    for (const std::int32_t rank : choice_.pinned)
      if (rank >= 0 && rank < static_cast<std::int32_t>(ranks_.size())) add_rank(rank, general, false);
    if (!rows_.rows.empty()) pin(available);
    if (choice_.groups.empty()) {
      for (std::size_t r = 0; r < ranks_.size(); ++r)
        if (!is_pinned(r)) add_rank(static_cast<std::int32_t>(r), general, false);
    } else {
      for (std::size_t g = 0; g < choice_.groups.size(); ++g) add_group(static_cast<int>(g), general, group_row);
    }
    rows_.height = y_;
    return std::move(rows_);
  }

 private:
  bool is_pinned(std::size_t rank) const { return choice_.pinned.count(static_cast<std::int32_t>(rank)) > 0; }

  // Pins all rows that are laid out so far, unless too little height would be left.
  void pin(int available) {
    y_ += under_pinned;
    if (y_ > available * most_pinned) return;
    rows_.pinned_height = y_;
    for (TimelineRow& row : rows_.rows) row.pinned = true;
    for (RankBand& band : rows_.bands) band.pinned = true;
  }

  Lane first_lane(std::int32_t rank) const {
    const auto at = static_cast<std::size_t>(rank);
    return at < ranks_.size() ? ranks_[at].compute.front() : Lane::compute;
  }

  void add_group(int index, const Density& general, std::pair<int, int> group_row) {
    const RankGroup& group = choice_.groups[static_cast<std::size_t>(index)];
    const auto chosen = choice_.open_groups.find(group.name);
    const bool open = chosen == choice_.open_groups.end() ? choice_.groups_open : chosen->second;
    RankBand band{group.first, y_, open ? open_group_row : group_row.first, open, rows_.rows.size(), 1, index};
    rows_.rows.push_back(
        {RowKind::compute, group.first, group.count, first_lane(group.first), y_, band.height, group.stride, false});
    y_ += band.height + (open ? under_open_group : group_row.second);
    rows_.bands.push_back(band);
    if (!open) return;
    for (std::int32_t i = 0; i < group.count; ++i)
      if (group.rank(i) < static_cast<std::int32_t>(ranks_.size()) &&
          !is_pinned(static_cast<std::size_t>(group.rank(i))))
        add_rank(group.rank(i), choice_.groups_open ? general : in_a_group, true);
    y_ += under_open_group;
  }

  void add_rank(std::int32_t rank, const Density& general, bool member) {
    const LaneSet& lanes = ranks_[static_cast<std::size_t>(rank)];
    const auto chosen = choice_.open_ranks.find(rank);
    const Density& look = chosen == choice_.open_ranks.end() || chosen->second == general.open ? general
                          : chosen->second                                                     ? opened_by_hand
                                                                                               : folded_by_hand;
    RankBand band{rank, y_, 0, look.open, rows_.rows.size(), 0};
    band.member = member;
    const auto add = [&](RowKind kind, Lane lane, int height) {
      if (height == 0) return;
      if (y_ != band.y) y_ += look.row_gap;
      rows_.rows.push_back({kind, rank, 1, lane, y_, height});
      y_ += height;
    };
    for (const Lane lane : lanes.compute) add(RowKind::compute, lane, look.compute);
    if (with_prediction_) add(RowKind::ghost, Lane::compute, look.ghost);
    for (const Lane lane : lanes.communication) add(RowKind::communication, lane, look.communication);
    // An open band is high enough for two lines of label (rank, stage).
    if (look.open) y_ = std::max(y_, band.y + std::min(2 * text_height_, look.compute + 2 * look.band_gap));
    band.row_count = rows_.rows.size() - band.first_row;
    band.height = y_ - band.y;
    rows_.bands.push_back(band);
    y_ += look.band_gap;
  }

  const std::vector<LaneSet>& ranks_;
  bool with_prediction_;
  const RowChoice& choice_;
  int text_height_;
  TimelineRows rows_;
  int y_ = 0;
};

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
  std::optional<std::size_t> among;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool first_compute = kind == RowKind::compute && lane == Lane::compute;
    if (rows[i].kind != kind || (rows[i].lane != lane && !first_compute) || !rows[i].contains(rank)) continue;
    if (rows[i].rank_count == 1) return i;
    if (!among) among = i;
  }
  return among;
}

const RankBand* TimelineRows::band_of(std::int32_t rank) const {
  const RankBand* among = nullptr;
  for (const RankBand& band : bands) {
    if (band.group < 0 && band.rank == rank) return &band;
    if (band.group >= 0 && groups[static_cast<std::size_t>(band.group)].contains(rank)) among = &band;
  }
  return among;
}

std::vector<LaneSet> lane_sets(const std::vector<LaneKey>& lanes, Obtained obtained, std::int32_t ranks) {
  std::int32_t count = ranks;
  for (const LaneKey& key : lanes)
    if (key.obtained == obtained) count = std::max(count, key.rank + 1);
  std::vector<LaneSet> result(static_cast<std::size_t>(std::max(count, 0)));
  for (std::size_t r = 0; r < result.size(); ++r) result[r].rank = static_cast<std::int32_t>(r);
  for (const LaneKey& key : lanes) {
    if (key.obtained != obtained || key.rank < 0) continue;
    LaneSet& set = result[static_cast<std::size_t>(key.rank)];
    if (!is_compute(key.lane))
      set.communication.push_back(key.lane);
    else if (is_observed(key.lane) && set.compute.front() == Lane::compute)
      set.compute = {key.lane};
    else if (is_observed(key.lane))
      set.compute.push_back(key.lane);
  }
  for (LaneSet& set : result) {
    std::sort(set.compute.begin(), set.compute.end());
    std::sort(set.communication.begin(), set.communication.end());
  }
  return result;
}

TimelineRows lay_out_rows(const std::vector<LaneSet>& ranks, bool with_prediction, const RowChoice& choice,
                          int available, int text_height) {
  // Folding or opening one rank does not change the size of the others: the density is the first one in which all ranks
  // fit without such choices.
  RowChoice untouched;
  untouched.groups = choice.groups;
  untouched.groups_open = choice.groups_open;
  Layout plain(ranks, with_prediction, untouched, text_height);
  Layout chosen(ranks, with_prediction, choice, text_height);
  if (!choice.groups.empty() && !choice.groups_open) {
    const std::pair<int, int>* look = std::begin(group_rows);
    while (look + 1 != std::end(group_rows) && plain.of(in_a_group, *look, available).height > available) ++look;
    return chosen.of(in_a_group, *look, available);
  }
  const auto height_with = [&](const Density& look) { return plain.of(look, group_rows[0], available).height; };
  const Density* look = std::begin(densities);
  int height = height_with(*look);
  while (height > available && look + 1 != std::end(densities)) height = height_with(*++look);
  Density fitted = *look;
  if (height <= available && !ranks.empty()) {
    // The remaining height goes to the compute lanes, then to the gaps between bands, up to the next larger density.
    const Density& larger = look == std::begin(densities) ? largest : look[-1];
    const int spare = (available - height) / static_cast<int>(ranks.size());
    const int taller = std::min(spare, larger.compute - look->compute);
    fitted.compute += taller;
    fitted.band_gap += std::min(spare - taller, std::max(larger.band_gap - look->band_gap, 0));
  }
  return chosen.of(fitted, group_rows[0], available);
}

TimelineRows lay_out_overview(std::int32_t ranks, int height, Lane lane) {
  TimelineRows result;
  result.height = height;
  if (ranks <= 0 || height <= 0) return result;
  const int count = std::min(ranks, height / 2 > 0 ? height / 2 : 1);
  for (int i = 0; i < count; ++i) {
    const std::int32_t first = ranks * i / count, last = ranks * (i + 1) / count;
    const int y = height * i / count, bottom = height * (i + 1) / count;
    const int gap = bottom - y > 3 ? 1 : 0;
    result.rows.push_back({RowKind::compute, first, last - first, lane, y, bottom - y - gap});
  }
  return result;
}

}  // namespace rankscope
