// SPDX-License-Identifier: GPL-3.0-or-later
// Formats positions and durations: round ticks, and a suitable unit (ns, µs, ms, s). Integer
// arithmetic: ticks have no rounding errors, however far from the session's start.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "telemetry/event/time_range.hpp"

namespace rankscope {

struct TimeTick {
  std::int64_t time_ns = 0;
  std::string label;  ///< without the unit
};
struct TimeTicks {
  std::vector<TimeTick> ticks;
  std::string unit;
  std::int64_t interval_ns = 1;
};

/// Ticks at round distances from `origin_ns` (1, 2 or 5 times a power of ten), as many as fit but at most `most`,
/// within `visible`. Labels count from the origin.
TimeTicks time_ticks(TimeRange visible, std::int64_t origin_ns, int most);

/// Three digits and the unit: "2.71 ms", "812 µs", "1.25 s", "0 ns". Negative values keep their sign.
std::string duration_text(std::int64_t ns);
/// A position with the decimals that `resolution_ns` (one pixel) needs: "24.136 ms".
std::string position_text(std::int64_t ns, std::int64_t resolution_ns);
/// A share as "31.0 %".
std::string percent_text(double share);

}  // namespace rankscope
