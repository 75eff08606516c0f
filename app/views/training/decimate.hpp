// SPDX-License-Identifier: GPL-3.0-or-later
// Curves for a chart: at most two points a pixel, and no peak lost.
#pragma once
#include <vector>

namespace rankscope::app {

struct CurvePoint {
  double x = 0, y = 0;
  bool operator==(const CurvePoint&) const = default;
};

/// Of each of `pixels` equal stretches of x the least and the greatest y, in the order in which they stand. A y that is
/// not finite is one that nobody knows: a stretch of nothing else stays as one such point, others go without. `points`
/// stand by x. Unchanged when there are no more than two a pixel.
std::vector<CurvePoint> decimated(const std::vector<CurvePoint>& points, int pixels);

}  // namespace rankscope::app
