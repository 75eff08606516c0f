// SPDX-License-Identifier: GPL-3.0-or-later
// A surface as contours: levels of 1, 2, 5, 10, … above the least loss. Positions are arithmetic; the image is
// composed on any thread.
#pragma once
#include <QImage>
#include <QRectF>

#include "app/models/palette.hpp"
#include "engine/lesson/descent/surface.hpp"

namespace rankscope::app {

/// From points to pixels and back. The complete window is visible. Both axes have the same scale if its shape is about
/// the area's, so that a slope is perpendicular to its contour; a longer one is stretched, by a factor of two at most,
/// and beyond that more of the surface is visible beside it.
struct SurfaceScale {
  SurfaceWindow shown;
  QRectF area;
  QPointF at(Point point) const;
  Point point_at(QPointF pixel) const;
};
SurfaceScale scale_for(const SurfaceWindow& window, const QRectF& area);

/// Contours are from `low` to `high`, in decades above the least loss.
struct ContourRange {
  double low = -2, high = 2;
  /// Position between them of a height above the least, 0 … 1.
  double share(double above) const;
};
ContourRange contours_of(const Surface& surface, const SurfaceWindow& shown);
/// The fill for a share of the range, in the image and in the scale beside it.
Argb contour_fill(double share, const Palette& colours);

/// `pixels`: width and height; `ratio`: pixels per unit of the screen.
QImage compose_surface(const Surface& surface, const SurfaceWindow& shown, QSize pixels, double ratio,
                       const Palette& colours);

}  // namespace rankscope::app
