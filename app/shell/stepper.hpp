// SPDX-License-Identifier: GPL-3.0-or-later
// An integer field to step, drag or type: − and +, a slider between them over the powers of two (for a short
// range: over every value), and a box that accepts any.
#pragma once
#include <QSlider>
#include <QSpinBox>
#include <QToolButton>
#include <vector>

namespace rankscope::app {

class Stepper : public QWidget {
  Q_OBJECT
 public:
  Stepper(int least, int most, QWidget* parent = nullptr);
  /// The number's name for screen readers, in the box, the slider and both buttons.
  void set_name(const QString& name);
  int value() const { return box_->value(); }
  void set_value(int value);
  QSpinBox* box() { return box_; }
  QSlider* slider() { return slider_; }
  /// The stops of the slider, ascending.
  const std::vector<int>& stops() const { return stops_; }

  bool eventFilter(QObject* watched, QEvent* event) override;
  QSize minimumSizeHint() const override;

 signals:
  void value_changed(int value);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void take_value();

  std::vector<int> stops_;
  QSpinBox* box_;
  QSlider* slider_;
  QToolButton *less_, *more_;
};

}  // namespace rankscope::app
