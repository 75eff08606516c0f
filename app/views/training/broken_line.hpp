// SPDX-License-Identifier: GPL-3.0-or-later
// A line in a Qt chart with gaps at unknown values: it consists of several series with the same style.
#pragma once
#include <QChart>
#include <QLineSeries>
#include <QPen>
#include <vector>

#include "app/views/training/decimate.hpp"

namespace rankscope::app {

class BrokenLine {
 public:
  /// `chart` owns the series; `across` and `upright` are axes that it has.
  BrokenLine(QChart& chart, QAbstractAxis& across, QAbstractAxis& upright);
  void set_pen(const QPen& pen);
  /// A point whose y is not finite breaks the line; a point between two such points is a dot.
  void show(const std::vector<CurvePoint>& points);
  /// The pieces drawn now, each of one point or more.
  QList<QList<QPointF>> pieces() const;

 private:
  QChart& chart_;
  QAbstractAxis &across_, &upright_;
  QPen pen_;
  std::vector<QLineSeries*> series_;  ///< those behind the last piece are empty
};

}  // namespace rankscope::app
