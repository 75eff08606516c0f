// SPDX-License-Identifier: GPL-3.0-or-later
// A surface as contours: levels of 1, 2, 5, 10, … above the least loss. What stands where is arithmetic; the image is
// composed on any thread.
#pragma once
#include <QImage>
#include <QRectF>

#include "app/models/palette.hpp"
#include "engine/lesson/descent/surface.hpp"

namespace rankscope::app {

/// From points to pixels and back. The window is seen whole. Both axes have one scale where it has about the area's
/// shape, so that a slope is square to its contour; a longer one is stretched, by a factor of two at most, and beyond
/// that more of the surface is seen beside it.
struct SurfaceScale {
  SurfaceWindow shown;
  QRectF area;
  QPointF at(Point point) const;
  Point point_at(QPointF pixel) const;
};
SurfaceScale scale_for(const SurfaceWindow& window, const QRectF& area);

/// Contours lie from `low` to `high`, in decades above the least loss.
struct ContourRange {
  double low = -2, high = 2;
  /// Where a height above the least lies between them, 0 … 1.
  double share(double above) const;
};
ContourRange contours_of(const Surface& surface, const SurfaceWindow& shown);
/// Of a share of the range, as the image and its scale beside it are filled.
Argb contour_fill(double share, const Palette& colours);

/// `pixels` as wide and high; `ratio` of them to a unit of the screen.
QImage compose_surface(const Surface& surface, const SurfaceWindow& shown, QSize pixels, double ratio,
                       const Palette& colours);

}  // namespace rankscope::app
