// SPDX-License-Identifier: GPL-3.0-or-later
// A step's gradients by magnitude, one bar per power of two, compared with the range of fp16: values to the left of
// it become zero in fp16, values to the right infinite.
#pragma once
#include <QLabel>
#include <vector>

#include "app/session/figures.hpp"
#include "app/views/common/painted_widget.hpp"

namespace rankscope::app {

class MagnitudeChart : public PaintedWidget {
  Q_OBJECT
 public:
  explicit MagnitudeChart(QWidget* parent);
  void show_data(const MagnitudeData& shown);
  bool filled() const { return data_.counts != nullptr; }
  const MagnitudeData& data() const { return data_; }
  QString note() const { return note_->text(); }

  /// Shares of all elements, bar by bar, of 2^first_shown up to 2^(last_shown + 1).
  std::vector<double> shares() const;
  static constexpr int first_shown = -40, last_shown = 17;
  /// Where a power of two begins on a plot of this width.
  static double place_of(int exponent, double width) {
    return width * (exponent - first_shown) / (last_shown + 1 - first_shown);
  }

 private:
  class Bars;
  QString tip_at(QPoint at) const override;
  MagnitudeData data_;
  Bars* bars_;
  QLabel* note_;
};

}  // namespace rankscope::app
