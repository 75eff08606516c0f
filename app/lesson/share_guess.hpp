// SPDX-License-Identifier: GPL-3.0-or-later
// A drawn guess of a share: a step as a bar with a part whose edge is dragged to the guessed share. After the
// run the measured share is below it. A bubble is the hatched end of the bar; every other part begins at the left,
// in its usual colour.
#pragma once
#include <QWidget>
#include <optional>

#include "app/models/palette.hpp"
#include "engine/explain/analyse/step_analysis.hpp"

namespace rankscope::app {

class ShareGuess : public QWidget {
  Q_OBJECT
 public:
  /// `part`: the guessed part; nothing: a share of something else, such as of the peak.
  ShareGuess(const Palette& colours, std::optional<TimeClass> part = TimeClass::bubble, QWidget* parent = nullptr);

  /// In percent of the step, 0 … 100.
  double value() const { return value_; }
  void set_value(double percent);
  /// After submission it cannot be moved.
  void set_kept(bool kept);
  /// `name`: how it was obtained, such as "emulated".
  void set_measured(std::optional<double> percent, const QString& name);
  /// The position of a share on the widget.
  double x_of(double percent) const;

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {120, sizeHint().height()}; }

 signals:
  void value_changed(double percent);
  void submitted();  ///< Enter was pressed

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void drag(double x);
  void paint_share(QPainter& painter, const QRectF& bar, double percent, double strength) const;
  bool at_end() const { return part_ == TimeClass::bubble; }

  const Palette& colours_;
  std::optional<TimeClass> part_;
  double value_ = 0;
  std::optional<double> measured_;
  QString measured_name_;
  bool kept_ = false;
};

/// The part of the step of the report's value at this path: "bubble.measured" the bubble, "time.compute" compute;
/// nothing if it is not part of the step.
std::optional<TimeClass> part_of_step(const QString& report_path);

}  // namespace rankscope::app
