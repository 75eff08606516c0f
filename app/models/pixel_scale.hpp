// SPDX-License-Identifier: GPL-3.0-or-later
// Time ↔ pixels. Times stay 64-bit nanoseconds; only the distance from the view's start becomes floating-point, so
// the resolution is still a nanosecond after a week of training.
#pragma once
#include <cmath>
#include <cstdint>

#include "telemetry/event/time_range.hpp"

namespace rankscope {

struct PixelScale {
  TimeRange range;
  double width = 1;  ///< pixels that show `range`

  double ns_per_pixel() const { return static_cast<double>(range.length()) / width; }
  /// Pixels from the left edge; outside 0 … width for times outside the range.
  double x_of(std::int64_t time_ns) const {
    return static_cast<double>(time_ns - range.begin_ns) * width / static_cast<double>(range.length());
  }
  std::int64_t time_at(double x) const { return range.begin_ns + std::llround(x * ns_per_pixel()); }
};

}  // namespace rankscope
