// The clocks of hosts that traced one run, aligned by what their ranks did together: the members of a collective leave
// it within some microseconds (NCCL) or some tenths of a millisecond (gloo), however long the first of them waited.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "telemetry/import/rank_trace.hpp"

namespace rankscope::import {

/// How a rank's clock follows that of the first rank: aligned = raw − offset − drift · (raw − at).
struct ClockFit {
  std::int64_t at_ns = 0, offset_ns = 0;
  double drift = 0;                 ///< seconds per second
  std::int64_t uncertainty_ns = 0;  ///< the median distance of the common ends from the fit
  std::size_t points = 0;           ///< collectives that were compared; 0: nothing was, the clock is as traced
  bool is_shared = false;           ///< the clock of an earlier rank's host: no correction
  std::int64_t aligned(std::int64_t raw_ns) const;
};

/// Two ends of one collective.
struct CommonEnd {
  std::int64_t mine_ns = 0, reference_ns = 0;
};
/// A line through the differences, by medians, so that single late ends do not matter. The slope is kept only where it
/// is several times its own uncertainty.
ClockFit fit(std::vector<CommonEnd> ends);

/// [trace]. Ranks that share no collective with any aligned rank, directly or through others, stay as traced.
std::vector<ClockFit> align(std::span<const RankTrace> traces);

}  // namespace rankscope::import
