// SPDX-License-Identifier: GPL-3.0-or-later
// Positions of the rows of the time line: arithmetic without a GUI.
//
// A rank is a band of rows: its compute lane (tall), the prediction of it as a ghost, its communication lanes (thin).
// When the height is too small, bands shrink, then lose their thin rows, and finally become heat rows that scroll.
// Ranks may be grouped: a group has a heat row, the mean of its ranks; when it is open, they are shown under it. Pinned
// ranks are at the top and do not scroll.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "app/models/rank_groups.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope {

enum class RowKind : std::uint8_t {
  compute,
  ghost,          ///< the prediction of the compute lane above it
  communication,  ///< any lane but compute
};

struct TimelineRow {
  RowKind kind = RowKind::compute;
  std::int32_t rank = 0;
  std::int32_t rank_count = 1;  ///< a row may show several ranks from `rank` on: the mean of their shares
  Lane lane = Lane::compute;
  int y = 0, height = 0;
  std::int32_t rank_stride = 1;  ///< from one of its ranks to the next
  bool pinned = false;           ///< it does not scroll with the others
  int bottom() const { return y + height; }
  bool contains(std::int32_t r) const { return RankGroup{{}, rank, rank_count, rank_stride}.contains(r); }
  bool operator==(const TimelineRow&) const = default;
};

/// A rank's rows and the space for its label; or a group's heat row.
struct RankBand {
  std::int32_t rank = 0;
  int y = 0, height = 0;
  bool open = true;  ///< of a rank, false: only the compute row; of a group: its ranks are shown under it
  std::size_t first_row = 0, row_count = 0;
  int group = -1;  ///< index into TimelineRows::groups; -1: a rank's
  bool pinned = false;
  bool member = false;  ///< a rank under its group's row
};

struct TimelineRows {
  std::vector<TimelineRow> rows;  ///< top to bottom
  std::vector<RankBand> bands;
  std::vector<RankGroup> groups;
  int height = 0;
  int pinned_height = 0;  ///< of the part at the top that does not scroll; the rest begins below it

  /// The position of a row in a view scrolled by `scroll`, and what is at a position of that view.
  int view_y(const TimelineRow& row, int scroll) const { return row.pinned ? row.y : row.y - scroll; }
  int view_y(const RankBand& band, int scroll) const { return band.pinned ? band.y : band.y - scroll; }
  int content_y(int view_y, int scroll) const { return view_y < pinned_height ? view_y : view_y + scroll; }

  std::optional<std::size_t> row_at(int y) const;
  /// The band at that height; the gap under a band belongs to it.
  std::optional<std::size_t> band_at(int y) const;
  /// The rank's own row; if it has none, that of its group. A compute row of Lane::compute: its first one.
  std::optional<std::size_t> find(std::int32_t rank, RowKind kind, Lane lane) const;
  /// The rank's own band; if it has none, that of its group.
  const RankBand* band_of(std::int32_t rank) const;
};

/// The input of the layout.
struct LaneSet {
  std::int32_t rank = 0;
  std::vector<Lane> communication;  ///< lanes with events, in the order of Lane
  std::vector<Lane> compute{Lane::compute};  ///< of an imported run those with events: several streams or threads
  bool operator==(const LaneSet&) const = default;
};

/// The lanes of each rank 0 … `ranks` - 1 that have events obtained in this way. A rank without events also has a
/// band.
std::vector<LaneSet> lane_sets(const std::vector<LaneKey>& lanes, Obtained obtained, std::int32_t ranks);

/// The user's choices for the rows.
struct RowChoice {
  std::map<std::int32_t, bool> open_ranks;  ///< opened or folded by hand; the others depend on the available space
  std::vector<RankGroup> groups;            ///< empty: rank by rank
  bool groups_open = false;                 ///< those that the user has not opened or closed
  std::map<std::string, bool> open_groups;  ///< by name: opened or closed by hand
  std::set<std::int32_t> pinned;
};

/// Rows that fit `available` pixels if any arrangement does. `text_height`: of one line of a label.
TimelineRows lay_out_rows(const std::vector<LaneSet>& ranks, bool with_prediction, const RowChoice& choice,
                          int available, int text_height = 16);

/// Rows of the overview: only this lane, in `height` pixels; several ranks share a row when there are more ranks than
/// pixels.
TimelineRows lay_out_overview(std::int32_t ranks, int height, Lane lane = Lane::compute);

}  // namespace rankscope
