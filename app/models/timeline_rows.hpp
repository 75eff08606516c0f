// SPDX-License-Identifier: GPL-3.0-or-later
// Where the rows of the time line stand: arithmetic without a GUI.
//
// A rank is a band of rows: its compute lane, tall; the prediction of it as a ghost; its communication lanes, thin.
// When the height is short, bands shrink, then lose their thin rows, and at last become heat rows that scroll.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

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
  std::int32_t rank_count = 1;  ///< a row may stand for several ranks from `rank` on: the mean of their shares
  Lane lane = Lane::compute;
  int y = 0, height = 0;
  int bottom() const { return y + height; }
  bool operator==(const TimelineRow&) const = default;
};

/// A rank's rows and the room for its label.
struct RankBand {
  std::int32_t rank = 0;
  int y = 0, height = 0;
  bool open = true;  ///< false: the compute row alone
  std::size_t first_row = 0, row_count = 0;
};

struct TimelineRows {
  std::vector<TimelineRow> rows;  ///< top to bottom
  std::vector<RankBand> bands;
  int height = 0;

  std::optional<std::size_t> row_at(int y) const;
  /// The band at that height; the gap under a band belongs to it.
  std::optional<std::size_t> band_at(int y) const;
  std::optional<std::size_t> find(std::int32_t rank, RowKind kind, Lane lane) const;
};

/// What there is to lay out.
struct LaneSet {
  std::int32_t rank = 0;
  std::vector<Lane> communication;  ///< lanes with events, in the order of Lane
  bool operator==(const LaneSet&) const = default;
};

/// The lanes of each rank 0 … `ranks` - 1 that have events obtained so. A rank that has said nothing yet has a band all
/// the same.
std::vector<LaneSet> lane_sets(const std::vector<LaneKey>& lanes, Obtained obtained, std::int32_t ranks);

/// Rows that fit `available` pixels if any arrangement does. `chosen_open`: ranks that a person opened or folded;
/// the others go with the room there is. `text_height`: of one line of a label.
TimelineRows lay_out_rows(const std::vector<LaneSet>& ranks, bool with_prediction,
                          const std::map<std::int32_t, bool>& chosen_open, int available, int text_height = 16);

/// Rows of the overview: compute alone, in `height` pixels; several ranks share a row when there are more ranks than
/// pixels.
TimelineRows lay_out_overview(std::int32_t ranks, int height);

}  // namespace rankscope
