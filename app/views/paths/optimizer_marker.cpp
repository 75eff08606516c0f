// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/paths/optimizer_marker.hpp"

#include <QPainter>
#include <QPolygonF>
#include <array>
#include <cmath>
#include <numbers>

#include "app/views/common/style.hpp"

namespace rankscope::app {
namespace {

struct Marker {
  const char* optimizer;
  int corners;    ///< 0: a disc
  double turned;  ///< of the first corner from the top, as a share of a turn
  double waist;   ///< of a star: the distance of its inner corners from the middle; 1: no star
  Argb (*colour)(const Palette& palette);
};

template <SpanClass span_class>
Argb of_class(const Palette& palette) {
  return palette.of(span_class);
}

constexpr std::array<Marker, 9> markers = {{
    {"sgd", 0, 0, 1, of_class<SpanClass::optimizer>},
    {"momentum", 4, 0.125, 1, of_class<SpanClass::forward>},
    {"adagrad", 3, 0, 1, of_class<SpanClass::weight_gradient>},
    {"adam", 4, 0, 1, of_class<SpanClass::transfer>},
    {"adamw", 3, 0.5, 1, [](const Palette& palette) { return palette.gather; }},
    {"radam", 5, 0, 1, of_class<SpanClass::collective>},
    {"adafactor", 5, 0, 0.45, of_class<SpanClass::backward>},
    {"adam8bit", 4, 0, 0.35, of_class<SpanClass::other>},
    {"sophia", 6, 0, 1, [](const Palette& palette) { return palette.tensor; }},
}};

const Marker& marker_of(const std::string& optimizer) {
  for (const Marker& marker : markers)
    if (optimizer == marker.optimizer) return marker;
  return markers.front();
}

}  // namespace

Argb colour_of(const std::string& optimizer, const Palette& palette) { return marker_of(optimizer).colour(palette); }

void paint_mark(QPainter& painter, QPointF at, double size, const std::string& optimizer, Argb fill, Argb edge) {
  const Marker& marker = marker_of(optimizer);
  painter.setPen(QPen(color(edge), 1.2));
  painter.setBrush(color(fill));
  if (marker.corners == 0) {
    painter.drawEllipse(at, 0.85 * size, 0.85 * size);
    return;
  }
  QPolygonF shape;
  const bool star = marker.waist < 1;
  const int count = star ? 2 * marker.corners : marker.corners;
  for (int i = 0; i < count; ++i) {
    const double angle = 2 * std::numbers::pi * (marker.turned + static_cast<double>(i) / count);
    const double out = star && i % 2 == 1 ? size * marker.waist : size;
    shape << at + QPointF(out * std::sin(angle), -out * std::cos(angle));
  }
  painter.drawPolygon(shape);
}

}  // namespace rankscope::app
