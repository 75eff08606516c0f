// SPDX-License-Identifier: GPL-3.0-or-later
// Statistics of the ranks in a time range: the table of a selected range.
#pragma once
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "telemetry/store/run_store.hpp"

namespace rankscope {

struct RankShare {
  std::int32_t rank = 0;
  std::array<double, span_class_count> compute{};  ///< of the compute lane, by class
  double idle = 0, unknown = 0;                    ///< of the compute lane; with `compute` they sum to 1
  double transfer = 0, collective = 0;             ///< busy share of the busiest such lane; overlaps with compute
};

struct RangeStatistics {
  TimeRange range;
  std::vector<RankShare> ranks;
  RankShare mean;  ///< over the ranks; rank -1
};

/// Cost: one pixel per lane, however many spans the range has. `only`: of these ranks; empty: of all.
RangeStatistics statistics_of(const StoreView& view, Obtained obtained, TimeRange range,
                              const std::function<bool(std::int32_t rank)>& only = {});

/// One line, largest part first: "12.3 ms · forward 30.1 % · backward 38.9 % · idle 31.0 % · transfers 4.1 %".
std::string summary_of(const RangeStatistics& statistics);

}  // namespace rankscope
