// SPDX-License-Identifier: GPL-3.0-or-later
// Guesses that are drawn with the pointer or the keys: a share of a step, and a series. After the run the measured
// values are drawn below or over them.
#pragma once
#include <QWidget>
#include <optional>
#include <vector>

#include "app/models/palette.hpp"
#include "engine/explain/analyse/step_analysis.hpp"

namespace rankscope::app {

class DrawnGuess : public QWidget {
  Q_OBJECT
 public:
  /// After submission it cannot be changed.
  void set_kept(bool kept);

 signals:
  void submitted();  ///< Enter was pressed

 protected:
  /// `cursor`: of the pointer that draws.
  DrawnGuess(const Palette& colours, Qt::CursorShape cursor, QWidget* parent);

  const Palette& colours_;
  QString measured_name_;
  bool kept_ = false;

 private:
  Qt::CursorShape cursor_;
};

/// A share: a step as a bar with a part whose edge is dragged to the guessed share. The measured share is below it. A
/// bubble is the hatched end of the bar; every other part begins at the left, in its usual colour.
class ShareGuess : public DrawnGuess {
  Q_OBJECT
 public:
  /// `part`: the guessed part; nothing: a share of something else, such as of the peak.
  ShareGuess(const Palette& colours, std::optional<TimeClass> part = TimeClass::bubble, QWidget* parent = nullptr);

  /// In percent of the step, 0 … 100.
  double value() const { return value_; }
  void set_value(double percent);
  /// `name`: how it was obtained, such as "emulated".
  void set_measured(std::optional<double> percent, const QString& name);
  /// The position of a share on the widget.
  double x_of(double percent) const;

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {120, sizeHint().height()}; }

 signals:
  void value_changed(double percent);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void drag(double x);
  void paint_share(QPainter& painter, const QRectF& bar, double percent, double strength) const;
  bool at_end() const { return part_ == TimeClass::bubble; }

  std::optional<TimeClass> part_;
  double value_ = 0;
  std::optional<double> measured_;
};

/// The part of the step of the report's value at this path: "bubble.measured" the bubble, "time.compute" compute;
/// nothing if it is not part of the step.
std::optional<TimeClass> part_of_step(const QString& report_path);

/// A series: one value for each rank or step. The measured values are drawn over it.
class Sketch : public DrawnGuess {
  Q_OBJECT
 public:
  /// `count` values from 0 to `most`; `each`: the unit of the x axis ("rank").
  Sketch(const Palette& colours, std::size_t count, double most, const QString& unit, const QString& each,
         QWidget* parent = nullptr);

  const std::vector<double>& values() const { return values_; }
  void set_values(const std::vector<double>& values);
  /// `name`: the origin of the values, "run" or "simulation".
  void set_measured(std::vector<double> values, const QString& name);
  /// The position of a value on the widget.
  QPointF at(std::size_t index, double value) const;

  QSize sizeHint() const override { return {200, 132}; }
  QSize minimumSizeHint() const override { return {120, 132}; }

 signals:
  void drawn();

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

  double most_;
  QString unit_, each_;
  std::vector<double> values_, measured_;
  std::size_t chosen_ = 0;
  QPointF last_;
};

}  // namespace rankscope::app
