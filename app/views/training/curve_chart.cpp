// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/training/curve_chart.hpp"

#include <QGraphicsLayout>
#include <QLegend>
#include <algorithm>
#include <cmath>
#include <limits>

#include "app/views/common/axis.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"
#include "app/views/training/chart_labels.hpp"

namespace rankscope::app {
namespace {

constexpr int step_label_width = 64, value_label_height = 36;  ///< space that a tick needs, with a margin
constexpr int named_label_width = 88, least_titled_height = 124;  ///< below: no space for the title of the lower axis
constexpr double air = 0.06;                                   ///< margin over and under the curve, as a share

/// The values between which the curve is drawn.
std::pair<double, double> ends_of(const CurveData& data, bool from_zero) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  const auto take = [&](double y) {
    low = std::min(low, y);
    high = std::max(high, y);
  };
  for (const auto* points : {&data.points, &data.dashed})
    for (const CurvePoint& point : *points)
      if (std::isfinite(point.y)) take(point.y);
  if (data.level) take(*data.level);
  if (from_zero) take(0);
  if (!(high > low)) {
    // All values are equal. Zero gives no scale: its axis is one unit long.
    if (low == 0) return {0, 1};
    const double half = std::fabs(low) * 0.1;
    return {low - half, high + half};
  }
  const double extra = (high - low) * air;
  return {from_zero ? low : low - extra, high + extra};
}

/// At most `most` round ticks, but at least two if possible: one tick shows no scale.
std::vector<double> ticks_for(double low, double high, int most) {
  std::vector<double> ticks;
  constexpr int extra_ticks = 6;  // with this number more, one of the steps 1, 2 and 5 has two ticks in the range
  for (int n = std::max(2, most), last = n + extra_ticks; n <= last && ticks.size() < 2; ++n)
    ticks = round_ticks(low, high, n);
  return ticks;
}

/// With all digits: two ticks must not have the same label, since the axis would drop the second.
QString words_of(double tick) {
  if (std::fabs(tick) >= 1000) return text::count(std::llround(tick));
  const QString digits = QString::number(std::fabs(tick) < 1e-12 ? 0 : tick, 'g', 9);
  if (!digits.contains(QLatin1Char('e')) || std::fabs(tick) < 1e-7) return digits;
  // "0.00005" next to "0.0001", not "5e-05".
  QString plain = QString::number(tick, 'f', 9);
  while (plain.endsWith(QLatin1Char('0'))) plain.chop(1);
  return plain;
}

}  // namespace

std::vector<CurvePoint> decimated(const std::vector<CurvePoint>& points, int pixels) {
  if (pixels < 1 || points.size() <= 2 * static_cast<std::size_t>(pixels)) return points;
  std::vector<CurvePoint> kept;
  kept.reserve(2 * static_cast<std::size_t>(pixels));
  const double first = points.front().x, width = (points.back().x - first) / pixels;
  std::size_t begin = 0;
  for (int pixel = 0; pixel < pixels && begin < points.size(); ++pixel) {
    const double right = first + width * (pixel + 1);
    std::size_t end = begin;
    const CurvePoint *least = nullptr, *greatest = nullptr;
    for (; end < points.size() && (points[end].x < right || pixel == pixels - 1); ++end) {
      const CurvePoint& point = points[end];
      if (!std::isfinite(point.y)) continue;
      if (least == nullptr || point.y < least->y) least = &point;
      if (greatest == nullptr || point.y >= greatest->y) greatest = &point;
    }
    if (end == begin) continue;
    if (least == nullptr) {
      kept.push_back(points[begin]);
    } else {
      kept.push_back(least < greatest ? *least : *greatest);
      if (least != greatest) kept.push_back(least < greatest ? *greatest : *least);
    }
    begin = end;
  }
  return kept;
}

BrokenLine::BrokenLine(QChart& chart, QAbstractAxis& across, QAbstractAxis& upright)
    : chart_(chart), across_(across), upright_(upright) {}

void BrokenLine::set_pen(const QPen& pen) {
  pen_ = pen;
  for (QLineSeries* series : series_) series->setPen(pen);
}

void BrokenLine::show(const std::vector<CurvePoint>& points) {
  std::vector<QList<QPointF>> pieces;
  bool broken = true;
  for (const CurvePoint& point : points) {
    if (std::isfinite(point.y)) {
      if (broken) pieces.emplace_back();
      pieces.back().append({point.x, point.y});
    }
    broken = !std::isfinite(point.y);
  }
  while (series_.size() < pieces.size()) {
    auto* series = new QLineSeries;
    series->setPen(pen_);
    chart_.addSeries(series);
    series->attachAxis(&across_);
    series->attachAxis(&upright_);
    series_.push_back(series);
  }
  for (std::size_t i = 0; i < series_.size(); ++i) {
    if (i >= pieces.size()) {
      if (!series_[i]->points().isEmpty()) series_[i]->clear();
      continue;
    }
    series_[i]->setPointsVisible(pieces[i].size() == 1);
    series_[i]->replace(pieces[i]);
  }
}

QList<QList<QPointF>> BrokenLine::pieces() const {
  QList<QList<QPointF>> pieces;
  for (const QLineSeries* series : series_)
    if (!series->points().isEmpty()) pieces.append(series->points());
  return pieces;
}

CurveChart::CurveChart(const QString& title, bool from_zero, QWidget* parent)
    : QWidget(parent),
      from_zero_(from_zero),
      view_(new QChartView(new QChart, this)),
      marker_(new QLineSeries),
      steps_(new QValueAxis),
      values_(new QCategoryAxis),
      dashed_(*view_->chart(), *steps_, *values_),
      line_(*view_->chart(), *steps_, *values_) {
  const ChartLabels labels = add_chart_labels(*this, title, view_);
  title_ = labels.title;
  note_ = labels.note;
  QChart& chart = *view_->chart();
  chart.legend()->hide();
  chart.setBackgroundVisible(false);
  chart.setMargins(QMargins(4, 4, 8, 4));
  chart.layout()->setContentsMargins(0, 0, 0, 0);
  chart.addAxis(steps_, Qt::AlignBottom);
  chart.addAxis(values_, Qt::AlignLeft);
  values_->setLabelsPosition(QCategoryAxis::AxisLabelsPositionOnValue);
  values_->setTruncateLabels(false);
  steps_->setTickType(QValueAxis::TicksDynamic);
  steps_->setTickAnchor(0);
  steps_->setTitleText(tr("step"));
  steps_->setGridLineVisible(false);
  chart.addSeries(marker_);
  marker_->attachAxis(steps_);
  marker_->attachAxis(values_);
  view_->setFrameShape(QFrame::NoFrame);
  view_->setRenderHint(QPainter::Antialiasing);
  view_->setBackgroundBrush(Qt::NoBrush);
  view_->setMinimumSize(120, 80);
}

void CurveChart::set_colours(const Palette& p, Argb line, Argb dashed) {
  for (QAbstractAxis* axis : {static_cast<QAbstractAxis*>(steps_), static_cast<QAbstractAxis*>(values_)}) {
    axis->setLabelsFont(number_font());
    axis->setTitleFont(interface_font());
    axis->setTitleBrush(color(p.dim));
    axis->setLabelsColor(color(p.dim));
    axis->setLinePenColor(color(p.line));
    axis->setGridLineColor(color(p.line));
  }
  line_.set_pen(QPen(color(line), 1.5));
  dashed_.set_pen(QPen(color(dashed), 1.5, Qt::DashLine));
  marker_->setPen(QPen(faded(p.text, 0.35), 1));
}

void CurveChart::set_title(const QString& title) {
  title_->setText(title);
  view_->setAccessibleName(title);
}

void CurveChart::show_data(const CurveData& shown) {
  data_ = shown;
  draw();
}

QList<QPointF> CurveChart::points() const {
  QList<QPointF> all;
  for (const QList<QPointF>& piece : pieces()) all += piece;
  return all;
}

void CurveChart::draw() {
  const int pixels = std::max(width() - 60, 50);
  line_.show(decimated(data_.points, pixels));
  // Each chart has a note under its title, possibly empty, so that the plots are aligned.
  note_->setText(data_.note.isEmpty() ? QStringLiteral(" ") : data_.note);
  if (!filled()) return;
  if (data_.level)
    dashed_.show({{data_.first, *data_.level}, {data_.last, *data_.level}});
  else
    dashed_.show(decimated(data_.dashed, pixels));
  tick();
}

void CurveChart::tick() {
  const double first = data_.first, last = std::max(first + 1, data_.last);
  // Qt Charts cuts labels and title where both do not fit: then each label names the axis.
  const bool titled = view_->height() >= least_titled_height;
  steps_->setTitleVisible(titled);
  steps_->setLabelFormat(titled ? QStringLiteral("%d") : tr("step") + QStringLiteral(" %d"));
  const std::vector<double> steps = ticks_for(first, last, width() / (titled ? step_label_width : named_label_width));
  steps_->setRange(first, last);
  steps_->setTickInterval(std::max(1.0, steps.size() > 1 ? std::round(steps[1] - steps[0]) : last - first));
  const auto [low, high] = ends_of(data_, from_zero_);
  for (const QString& label : values_->categoriesLabels()) values_->remove(label);
  values_->setRange(low, high);
  values_->setStartValue(low);
  for (const double tick : ticks_for(low, high, view_->height() / value_label_height))
    values_->append(words_of(tick), tick);
  mark_step(step_);
}

void CurveChart::mark_step(std::optional<double> step) {
  step_ = step;
  marker_->clear();
  if (step && filled()) marker_->replace(QList<QPointF>{{*step, values_->min()}, {*step, values_->max()}});
}

void CurveChart::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  draw();
}

}  // namespace rankscope::app
