// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/training/broken_line.hpp"

#include <cmath>

namespace rankscope::app {

BrokenLine::BrokenLine(QChart& chart, QAbstractAxis& across, QAbstractAxis& upright)
    : chart_(chart), across_(across), upright_(upright) {}

void BrokenLine::set_pen(const QPen& pen) {
  pen_ = pen;
  for (QLineSeries* series : series_) series->setPen(pen);
}

void BrokenLine::show(const std::vector<CurvePoint>& points) {
  std::vector<QList<QPointF>> pieces;
  bool broken = true;
  for (const CurvePoint& point : points) {
    if (std::isfinite(point.y)) {
      if (broken) pieces.emplace_back();
      pieces.back().append({point.x, point.y});
    }
    broken = !std::isfinite(point.y);
  }
  while (series_.size() < pieces.size()) {
    auto* series = new QLineSeries;
    series->setPen(pen_);
    chart_.addSeries(series);
    series->attachAxis(&across_);
    series->attachAxis(&upright_);
    series_.push_back(series);
  }
  for (std::size_t i = 0; i < series_.size(); ++i) {
    if (i >= pieces.size()) {
      if (!series_[i]->points().isEmpty()) series_[i]->clear();
      continue;
    }
    series_[i]->setPointsVisible(pieces[i].size() == 1);
    series_[i]->replace(pieces[i]);
  }
}

QList<QList<QPointF>> BrokenLine::pieces() const {
  QList<QList<QPointF>> pieces;
  for (const QLineSeries* series : series_)
    if (!series->points().isEmpty()) pieces.append(series->points());
  return pieces;
}

}  // namespace rankscope::app
