// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/plot/plot_chart.hpp"

#include <QChart>
#include <QGraphicsLayout>
#include <QLegend>
#include <QLegendMarker>
#include <QLineSeries>
#include <QScatterSeries>
#include <algorithm>
#include <cmath>

#include "app/views/common/style.hpp"

namespace rankscope::app {
namespace {

using Mark = PlotSeries::Mark;

constexpr double line_width = 1.5;
constexpr int tick_height = 36, tick_width = 56;  ///< space that a tick needs, with a margin
constexpr int legend_left = 4;

bool is_line(Mark mark) { return mark == Mark::line || mark == Mark::dashed; }

/// On the chart's axis.
double on_axis(double value, bool logarithmic) { return logarithmic ? std::log10(value) : value; }

bool can_be_plotted(double value, bool logarithmic) { return std::isfinite(value) && (!logarithmic || value > 0); }

}  // namespace

PlotChart::PlotChart(QWidget* parent)
    : PaintedWidget(parent),
      view_(new QChartView(new QChart, this)),
      title_(new QLabel(this)),
      x_(new QCategoryAxis),
      y_(new QCategoryAxis) {
  QChart& chart = *view_->chart();
  chart.setBackgroundVisible(false);
  chart.setMargins({});
  chart.layout()->setContentsMargins(0, 0, 0, 0);
  chart.addAxis(x_, Qt::AlignBottom);
  chart.addAxis(y_, Qt::AlignLeft);
  for (QCategoryAxis* axis : {x_, y_}) {
    axis->setLabelsPosition(QCategoryAxis::AxisLabelsPositionOnValue);
    axis->setTruncateLabels(false);
  }
  x_->setGridLineVisible(false);
  chart.legend()->setMarkerShape(QLegend::MarkerShapeFromSeries);
  chart.legend()->detachFromChart();
  chart.legend()->setBackgroundVisible(false);
  chart.legend()->layout()->setContentsMargins(0, 0, 0, 0);
  view_->setFrameShape(QFrame::NoFrame);
  view_->setRenderHint(QPainter::Antialiasing);
  view_->setBackgroundBrush(Qt::NoBrush);
  view_->setAttribute(Qt::WA_TransparentForMouseEvents);  // the pointer uses this widget, menus the view around it
  title_->setAttribute(Qt::WA_TransparentForMouseEvents);
  title_->setContentsMargins(8, 0, 0, 0);
}

void PlotChart::show_plot(Plot plot) {
  plot_ = std::move(plot);
  title_->setText(plot_.title);
  view_->setAccessibleName(plot_.title);
  draw();
}

std::vector<PlotChart::Piece> PlotChart::pieces() const {
  std::vector<Piece> pieces;
  const auto place = [this](double x, double y) {
    return QPointF(on_axis(x, plot_.x.logarithmic), on_axis(y, plot_.y.logarithmic));
  };
  for (const PlotSeries& series : plot_.series) {
    Piece piece{series.mark, series.colour, series.name, {}, series.size};
    for (const PlotPoint& point : series.points) {
      if (!can_be_plotted(point.x, plot_.x.logarithmic) || !can_be_plotted(point.y, plot_.y.logarithmic)) continue;
      piece.points << place(point.x, point.y);
      if (!is_line(series.mark) && point.high > point.low && can_be_plotted(point.low, plot_.y.logarithmic))
        pieces.push_back({Mark::line, series.colour, {}, {place(point.x, point.low), place(point.x, point.high)}, 0});
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

void PlotChart::draw() {
  QChart& chart = *view_->chart();
  const PlotScale scale = scale_of(plot_, rect());
  const std::vector<Piece> shown = pieces();
  std::vector<Mark> marks;
  for (const Piece& piece : shown) marks.push_back(piece.mark);
  if (marks != marks_) {
    chart.removeAllSeries();
    series_.clear();
    for (const Mark mark : marks) {
      QXYSeries* series = is_line(mark) ? static_cast<QXYSeries*>(new QLineSeries) : new QScatterSeries;
      chart.addSeries(series);
      series->attachAxis(x_);
      series->attachAxis(y_);
      series_.push_back(series);
    }
    marks_ = std::move(marks);
  }
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const Piece& piece = shown[i];
    QXYSeries& series = *series_[i];
    const QColor colour = color(piece.colour);
    series.setName(piece.name);
    series.setPen(QPen(colour, line_width, piece.mark == Mark::dashed ? Qt::DashLine : Qt::SolidLine));
    if (auto* dots = qobject_cast<QScatterSeries*>(&series)) {
      dots->setMarkerSize(piece.size);
      dots->setBrush(piece.mark == Mark::dots ? colour : color(colours().ground));
      dots->setBorderColor(colour);
    }
    // Replacing 20,000 points takes 35 ms; during play only the dots change.
    if (series.points() != piece.points) series.replace(piece.points);
    for (QLegendMarker* marker : chart.legend()->markers(&series)) {
      marker->setVisible(!piece.name.isEmpty() && !piece.points.isEmpty());
      marker->setFont(interface_font());
      marker->setLabelBrush(color(colours().dim));
    }
  }
  title_->setVisible(!plot_.title.isEmpty());
  title_->setFont(interface_font());
  title_->setGeometry(0, 0, width(), plot_title_height);
  view_->setGeometry(rect());
  chart.resize(size());
  const int top = plot_.title.isEmpty() ? 0 : plot_title_height;
  chart.legend()->setGeometry(QRectF(legend_left, top, width() - legend_left, plot_legend_height));
  chart.setPlotArea(scale.inner);
  draw_axis(*x_, plot_.x, scale.x_low, scale.x_high, std::max(2, static_cast<int>(scale.inner.width()) / tick_width));
  draw_axis(*y_, plot_.y, scale.y_low, scale.y_high, std::max(2, static_cast<int>(scale.inner.height()) / tick_height));
}

void PlotChart::draw_axis(QCategoryAxis& axis, const PlotAxis& shown, double low, double high, int most) const {
  axis.setLabelsFont(number_font());
  axis.setTitleFont(number_font());
  axis.setTitleBrush(color(colours().dim));
  axis.setLabelsColor(color(colours().dim));
  axis.setLinePenColor(color(colours().line));
  axis.setGridLineColor(color(colours().line));
  axis.setTitleText(shown.name);
  axis.setTitleVisible(!shown.name.isEmpty());
  for (const QString& label : axis.categoriesLabels()) axis.remove(label);
  const double from = on_axis(low, shown.logarithmic), to = on_axis(high, shown.logarithmic);
  axis.setRange(from, to);
  axis.setStartValue(from);
  const bool upright = &axis == y_;
  const double room = upright ? scale_of(plot_, rect()).inner.height() : scale_of(plot_, rect()).inner.width();
  const QFontMetricsF metrics(number_font());
  double free_from = -1e9;  // where the previous label ends: labels that would overlap are omitted
  for (const double tick : shown_ticks(shown, low, high, most)) {
    const QString words = tick_words(shown, tick);
    const double at = (on_axis(tick, shown.logarithmic) - from) / (to - from) * room;
    const double half = (upright ? metrics.height() : metrics.horizontalAdvance(words)) / 2;
    if (at - half < free_from) continue;
    axis.append(words, on_axis(tick, shown.logarithmic));
    free_from = at + half + (upright ? 0 : 6);
  }
}

void PlotChart::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  draw();
}

QString PlotChart::tip_at(QPoint at) const {
  const PlotPoint* point = point_near(plot_, rect(), at);
  return point != nullptr ? point->help : QString();
}

}  // namespace rankscope::app
