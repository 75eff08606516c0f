// SPDX-License-Identifier: GPL-3.0-or-later
// Curves for a chart: at most two points per pixel, without losing peaks.
#pragma once
#include <vector>

namespace rankscope::app {

struct CurvePoint {
  double x = 0, y = 0;
  bool operator==(const CurvePoint&) const = default;
};

/// The least and the greatest y of each of `pixels` equal ranges of x, in their order. A y that is not finite is
/// unknown: a range with only such points becomes one of them; in other ranges they are omitted. `points` are
/// sorted by x. Unchanged if there are no more than two per pixel.
std::vector<CurvePoint> decimated(const std::vector<CurvePoint>& points, int pixels);

}  // namespace rankscope::app
