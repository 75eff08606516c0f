// SPDX-License-Identifier: GPL-3.0-or-later
// A whole number with − and + beside it: easy to hit, and to type into.
#pragma once
#include <QSpinBox>
#include <QToolButton>

namespace rankscope::app {

class Stepper : public QWidget {
  Q_OBJECT
 public:
  Stepper(int least, int most, QWidget* parent = nullptr);
  int value() const { return box_->value(); }
  void set_value(int value);
  QSpinBox* box() { return box_; }

 signals:
  void value_changed(int value);

 private:
  void take_ends();

  QSpinBox* box_;
  QToolButton *less_, *more_;
};

}  // namespace rankscope::app
