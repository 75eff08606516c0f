// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/training/decimate.hpp"

#include <algorithm>
#include <cmath>

namespace rankscope::app {

std::vector<CurvePoint> decimated(const std::vector<CurvePoint>& points, int pixels) {
  std::vector<CurvePoint> finite;
  finite.reserve(points.size());
  std::copy_if(points.begin(), points.end(), std::back_inserter(finite),
               [](const CurvePoint& point) { return std::isfinite(point.x) && std::isfinite(point.y); });
  if (pixels < 1 || finite.size() <= 2 * static_cast<std::size_t>(pixels)) return finite;

  std::vector<CurvePoint> kept;
  kept.reserve(2 * static_cast<std::size_t>(pixels));
  const double first = finite.front().x, width = (finite.back().x - first) / pixels;
  std::size_t begin = 0;
  for (int pixel = 0; pixel < pixels && begin < finite.size(); ++pixel) {
    const double right = first + width * (pixel + 1);
    std::size_t end = begin;
    while (end < finite.size() && (finite[end].x < right || pixel == pixels - 1)) ++end;
    if (end == begin) continue;
    const auto [least, greatest] = std::minmax_element(
        finite.begin() + static_cast<std::ptrdiff_t>(begin), finite.begin() + static_cast<std::ptrdiff_t>(end),
        [](const CurvePoint& a, const CurvePoint& b) { return a.y < b.y; });
    kept.push_back(least < greatest ? *least : *greatest);
    if (least != greatest) kept.push_back(least < greatest ? *greatest : *least);
    begin = end;
  }
  return kept;
}

}  // namespace rankscope::app
