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
  double waist;   ///< of a star: how near its inner corners are; 1: no star
};

constexpr std::array<Marker, 9> markers = {{{"sgd", 0, 0, 1},
                                            {"momentum", 4, 0.125, 1},
                                            {"adagrad", 3, 0, 1},
                                            {"adam", 4, 0, 1},
                                            {"adamw", 3, 0.5, 1},
                                            {"radam", 5, 0, 1},
                                            {"adafactor", 5, 0, 0.45},
                                            {"adam8bit", 4, 0, 0.35},
                                            {"sophia", 6, 0, 1}}};

const Marker& marker_of(const std::string& optimizer) {
  for (const Marker& marker : markers)
    if (optimizer == marker.optimizer) return marker;
  return markers.front();
}

}  // namespace

Argb colour_of(const std::string& optimizer, const Palette& p) {
  if (optimizer == "sgd") return p.of(SpanClass::optimizer);
  if (optimizer == "momentum") return p.of(SpanClass::forward);
  if (optimizer == "adagrad") return p.of(SpanClass::weight_gradient);
  if (optimizer == "adam") return p.of(SpanClass::transfer);
  if (optimizer == "adamw") return p.gather;
  if (optimizer == "radam") return p.of(SpanClass::collective);
  if (optimizer == "adafactor") return p.of(SpanClass::backward);
  if (optimizer == "adam8bit") return p.of(SpanClass::other);
  return p.tensor;
}

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
