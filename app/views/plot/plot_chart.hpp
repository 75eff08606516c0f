// SPDX-License-Identifier: GPL-3.0-or-later
// A plot as a Qt chart. All positions are from the plot's own arithmetic (scale_of()); axes are category axes over the
// values or their logarithms, because no other axis of Qt can have ticks and labels of our choice.
#pragma once
#include <QCategoryAxis>
#include <QChartView>
#include <QLabel>
#include <QXYSeries>
#include <vector>

#include "app/views/common/painted_widget.hpp"
#include "app/views/plot/plot.hpp"

namespace rankscope::app {

class PlotChart : public PaintedWidget {
  Q_OBJECT
 public:
  explicit PlotChart(QWidget* parent = nullptr);
  void show_plot(Plot plot);
  const Plot& plot() const { return plot_; }
  QString tip_at(QPoint at) const override;  ///< of points

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// One series of the chart: a curve, its dots, or a bar through a dot.
  struct Piece {
    PlotSeries::Mark mark;
    Argb colour;
    QString name;
    QList<QPointF> points;
    double size = 0;  ///< of dots
  };
  std::vector<Piece> pieces() const;
  void draw();
  void draw_axis(QCategoryAxis& axis, const PlotAxis& shown, double low, double high, int most) const;

  Plot plot_;
  QChartView* view_;
  QLabel* title_;
  QCategoryAxis *x_, *y_;
  std::vector<PlotSeries::Mark> marks_;  ///< of the series, in order
  std::vector<QXYSeries*> series_;       ///< the chart's
};

}  // namespace rankscope::app
