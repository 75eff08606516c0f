// SPDX-License-Identifier: GPL-3.0-or-later
// What a class answered to one question, painted: a histogram of numbers, bars of options, orders and clicked places,
// and of drawings the median with the quartiles at each point. What is right is marked where that is given.
#pragma once
#include <QWidget>

#include "app/lesson/distribution.hpp"
#include "app/models/palette.hpp"

class QPainter;

namespace rankscope::app {

class AnswersPlot : public QWidget {
  Q_OBJECT
 public:
  explicit AnswersPlot(const Palette& colours, QWidget* parent = nullptr);
  void set_colours(const Palette& colours);
  void set_distribution(Distribution distribution);
  const Distribution& distribution() const { return shown_; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void paint_bins(QPainter& painter) const;
  void paint_bars(QPainter& painter) const;
  void paint_spread(QPainter& painter) const;
  int most_bars() const;  ///< that there is room for
  QString tip_at(QPoint at) const;

  const Palette* colours_;
  Distribution shown_;
};

}  // namespace rankscope::app
