// SPDX-License-Identifier: GPL-3.0-or-later
// A class's answers to one question, painted: a histogram of numbers, bars of options, orders and clicked places,
// and of drawings the median with the quartiles at each point. The right answer is marked if it is given.
#pragma once

#include "app/lesson/distribution.hpp"
#include "app/views/common/painted_widget.hpp"

class QPainter;

namespace rankscope::app {

class AnswersPlot : public PaintedWidget {
  Q_OBJECT
 public:
  explicit AnswersPlot(QWidget* parent = nullptr);
  void set_distribution(Distribution distribution);
  const Distribution& distribution() const { return shown_; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void paint_bins(QPainter& painter) const;
  void paint_bars(QPainter& painter) const;
  void paint_spread(QPainter& painter) const;
  int most_bars() const;  ///< that fit
  QString tip_at(QPoint at) const override;

  Distribution shown_;
};

}  // namespace rankscope::app
