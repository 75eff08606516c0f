// SPDX-License-Identifier: GPL-3.0-or-later
// A drawn guess of a series: one value for each rank or step, drawn with the pointer or the keys. After
// the run the measured values are drawn over it.
#pragma once
#include <QWidget>
#include <vector>

#include "app/models/palette.hpp"

namespace rankscope::app {

class Sketch : public QWidget {
  Q_OBJECT
 public:
  /// `count` values from 0 to `most`; `each`: the unit of the x axis ("rank").
  Sketch(const Palette& colours, std::size_t count, double most, const QString& unit, const QString& each,
         QWidget* parent = nullptr);

  const std::vector<double>& values() const { return values_; }
  void set_values(const std::vector<double>& values);
  /// After submission it cannot be changed.
  void set_kept(bool kept);
  /// `name`: the origin of the values, "run" or "simulation".
  void set_measured(std::vector<double> values, const QString& name);
  /// The position of a value on the widget.
  QPointF at(std::size_t index, double value) const;

  QSize sizeHint() const override { return {200, 132}; }
  QSize minimumSizeHint() const override { return {120, 132}; }

 signals:
  void drawn();
  void submitted();  ///< Enter was pressed on something drawn

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void stroke(QPointF from, QPointF to);
  std::size_t stride() const;  ///< places that an arrow key moves: one for bars, more for a curve
  void set_chosen(double value);
  std::size_t index_at(double x) const;
  QRectF inner() const;

  const Palette& colours_;
  double most_;
  QString unit_, each_;
  std::vector<double> values_, measured_;
  QString measured_name_;
  std::size_t chosen_ = 0;
  QPointF last_;
  bool kept_ = false;
};

}  // namespace rankscope::app
