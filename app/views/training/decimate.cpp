// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/training/decimate.hpp"

#include <cmath>

namespace rankscope::app {

std::vector<CurvePoint> decimated(const std::vector<CurvePoint>& points, int pixels) {
  if (pixels < 1 || points.size() <= 2 * static_cast<std::size_t>(pixels)) return points;
  std::vector<CurvePoint> kept;
  kept.reserve(2 * static_cast<std::size_t>(pixels));
  const double first = points.front().x, width = (points.back().x - first) / pixels;
  std::size_t begin = 0;
  for (int pixel = 0; pixel < pixels && begin < points.size(); ++pixel) {
    const double right = first + width * (pixel + 1);
    std::size_t end = begin;
    const CurvePoint *least = nullptr, *greatest = nullptr;
    for (; end < points.size() && (points[end].x < right || pixel == pixels - 1); ++end) {
      const CurvePoint& point = points[end];
      if (!std::isfinite(point.y)) continue;
      if (least == nullptr || point.y < least->y) least = &point;
      if (greatest == nullptr || point.y >= greatest->y) greatest = &point;
    }
    if (end == begin) continue;
    if (least == nullptr) {
      kept.push_back(points[begin]);
    } else {
      kept.push_back(least < greatest ? *least : *greatest);
      if (least != greatest) kept.push_back(least < greatest ? *greatest : *least);
    }
    begin = end;
  }
  return kept;
}

}  // namespace rankscope::app
