// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/paths/surface_image.hpp"

#include <algorithm>
#include <cmath>

namespace rankscope::app {
namespace {

constexpr double lowest_share = 1e-3;                                    ///< of the start's height: the lowest contour
constexpr double most_stretched = 2;                                     ///< one axis against the other
constexpr double line_width = 1.1;                                       ///< of a contour, in units of the screen
constexpr double two = 0.30102999566398120, five = 0.69897000433601880;  // log10

/// The largest level, a decade's 1, 2 or 5, at or below a logarithm; and the next one above.
struct Band {
  double below, above;
};
Band band_of(double logarithm) {
  const double decade = std::floor(logarithm), rest = logarithm - decade;
  if (rest < two) return {decade, decade + two};
  if (rest < five) return {decade + two, decade + five};
  return {decade + five, decade + 1};
}

}  // namespace

QPointF SurfaceScale::at(Point point) const {
  return {area.left() + area.width() * (point.x - shown.x_low) / (shown.x_high - shown.x_low),
          area.bottom() - area.height() * (point.y - shown.y_low) / (shown.y_high - shown.y_low)};
}

Point SurfaceScale::point_at(QPointF pixel) const {
  return {shown.x_low + (pixel.x() - area.left()) / area.width() * (shown.x_high - shown.x_low),
          shown.y_low + (area.bottom() - pixel.y()) / area.height() * (shown.y_high - shown.y_low)};
}

SurfaceScale scale_for(const SurfaceWindow& window, const QRectF& area) {
  const double x = (window.x_low + window.x_high) / 2, y = (window.y_low + window.y_high) / 2;
  const double each_x = (window.x_high - window.x_low) / area.width();  // per pixel, if it filled the area
  const double each_y = (window.y_high - window.y_low) / area.height();
  const double half_x = std::max(each_x, each_y / most_stretched) * area.width() / 2;
  const double half_y = std::max(each_y, each_x / most_stretched) * area.height() / 2;
  return {{x - half_x, x + half_x, y - half_y, y + half_y}, area};
}

double ContourRange::share(double above) const {
  return above > 0 ? std::clamp((std::log10(above) - low) / (high - low), 0.0, 1.0) : 0.0;
}

ContourRange contours_of(const Surface& surface, const SurfaceWindow& shown) {
  double highest = surface.value(surface.start) - surface.least;
  const double start = highest;
  for (int i = 0; i <= 16; ++i)
    for (int j = 0; j <= 16; ++j)
      highest = std::max(highest, surface.value({shown.x_low + (shown.x_high - shown.x_low) * i / 16,
                                                 shown.y_low + (shown.y_high - shown.y_low) * j / 16}) -
                                      surface.least);
  return {std::floor(std::log10(start * lowest_share)), std::ceil(std::log10(highest))};
}

Argb contour_fill(double share, const Palette& colours) {
  return mixed(colours.ground, colours.accent, static_cast<float>(0.24 * share));
}

QImage compose_surface(const Surface& surface, const SurfaceWindow& shown, QSize pixels, double ratio,
                       const Palette& colours) {
  QImage image(pixels, QImage::Format_RGB32);
  image.setDevicePixelRatio(ratio);
  const ContourRange range = contours_of(surface, shown);
  const int wide = pixels.width(), high = pixels.height();
  const auto log_at = [&](int column, int row) {
    const Point at{shown.x_low + (column + 0.5) / wide * (shown.x_high - shown.x_low),
                   shown.y_high - (row + 0.5) / high * (shown.y_high - shown.y_low)};
    return std::log10(std::max(surface.value(at) - surface.least, 1e-300));
  };
  // A row and a column more than are drawn: the slope between neighbours gives the width of a line.
  std::vector<double> now(static_cast<std::size_t>(wide) + 1), next(now.size());
  for (int column = 0; column <= wide; ++column) now[static_cast<std::size_t>(column)] = log_at(column, 0);
  for (int row = 0; row < high; ++row) {
    auto* line = reinterpret_cast<Argb*>(image.scanLine(row));
    for (int column = 0; column <= wide; ++column) next[static_cast<std::size_t>(column)] = log_at(column, row + 1);
    for (int column = 0; column < wide; ++column) {
      const auto i = static_cast<std::size_t>(column);
      const double here = std::max(now[i], range.low);
      const Band band = band_of(here);
      const double middle = (band.below + band.above) / 2;
      Argb fill = contour_fill(now[i] < range.low ? 0 : (middle - range.low) / (range.high - range.low), colours);
      const double slope = std::hypot(now[i + 1] - now[i], next[i] - now[i]);
      if (slope > 0 && now[i] > range.low - slope) {
        const double level = here - band.below < band.above - here ? band.below : band.above;
        const double off = std::abs(now[i] - level) / slope / ratio;
        const bool decade = std::abs(level - std::round(level)) < 1e-9;
        const double cover = std::clamp(line_width / 2 + 0.5 - off, 0.0, 1.0) * (decade ? 0.42 : 0.22);
        fill = mixed(fill, colours.text, static_cast<float>(cover));
      }
      line[column] = fill;
    }
    std::swap(now, next);
  }
  return image;
}

}  // namespace rankscope::app
