// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/training/training_view.hpp"

#include <QGraphicsLayout>
#include <QHBoxLayout>
#include <QLegend>
#include <QPainter>
#include <cmath>

#include "app/views/common/axis.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr int least_interval_ms = 200;

/// Least and greatest of the curve with some air, on round values.
std::pair<double, double> value_range(const std::vector<CurvePoint>& points, double floor) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const CurvePoint& point : points) {
    low = std::min(low, point.y);
    high = std::max(high, point.y);
  }
  if (std::isfinite(floor)) low = std::min(low, floor);
  if (!(high > low)) return {low - std::max(1e-9, std::fabs(low) * 0.1), high + std::max(1e-9, std::fabs(high) * 0.1)};
  const double air = (high - low) * 0.06;
  return {low - air, high + air};
}

}  // namespace

TrainingView::TrainingView(SharedState& state, SnapshotSource& source, FiguresModel& figures, QWidget* parent)
    : DataView(state, source, parent), figures_(figures) {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(4, 0, 8, 0);
  layout->setSpacing(0);
  panels_[loss] = make_panel(tr("Loss, nats per token"), loss);
  panels_[gradient_norm] = make_panel(tr("Gradient norm"), gradient_norm);
  panels_[tokens_per_s] = make_panel(tr("Tokens per second"), tokens_per_s);
  for (const Panel& panel : panels_) layout->addWidget(panel.view, 1);
  limit_.setSingleShot(true);
  limit_.setInterval(least_interval_ms);
  connect(&limit_, &QTimer::timeout, this, [this] {
    if (waiting_) refresh();
  });
  connect(&figures, &FiguresModel::changed, this, &TrainingView::request);
  connect(&state, &SharedState::step_changed, this, &TrainingView::mark_step);
  set_theme(Theme::dark);
  refresh();
}

TrainingView::Panel TrainingView::make_panel(const QString& title, Curve curve) {
  Panel panel;
  auto* chart = new QChart;
  chart->setTitle(title);
  chart->legend()->hide();
  chart->setBackgroundVisible(false);
  chart->setMargins(QMargins(4, 4, 4, 4));
  chart->layout()->setContentsMargins(0, 0, 0, 0);
  panel.steps = new QValueAxis(chart);
  panel.steps->setLabelFormat(QStringLiteral("%d"));
  panel.steps->setTitleText(tr("step"));
  panel.values = new QValueAxis(chart);
  chart->addAxis(panel.steps, Qt::AlignBottom);
  chart->addAxis(panel.values, Qt::AlignLeft);
  const auto add = [&] {
    auto* series = new QLineSeries(chart);
    chart->addSeries(series);
    series->attachAxis(panel.steps);
    series->attachAxis(panel.values);
    return series;
  };
  panel.marker = add();
  if (curve == loss) {
    panel.floor = add();
    panel.floor->setPointLabelsClipping(false);
  }
  panel.line = add();
  panel.view = new QChartView(chart, this);
  panel.view->setFrameShape(QFrame::NoFrame);
  panel.view->setRenderHint(QPainter::Antialiasing);
  panel.view->setBackgroundBrush(Qt::NoBrush);
  panel.view->setAccessibleName(title);
  panel.view->setMinimumSize(120, 120);
  return panel;
}

void TrainingView::set_theme(Theme theme) {
  DataView::set_theme(theme);
  for (int i = 0; i < curve_count; ++i) colour(panels_[static_cast<std::size_t>(i)], static_cast<Curve>(i));
}

void TrainingView::colour(Panel& panel, Curve curve) {
  const Palette& p = colours();
  QChart* chart = panel.view->chart();
  chart->setTitleFont(interface_font());
  chart->setTitleBrush(color(p.dim));
  for (QValueAxis* axis : {panel.steps, panel.values}) {
    axis->setLabelsFont(number_font());
    axis->setTitleFont(interface_font());
    axis->setTitleBrush(color(p.dim));
    axis->setLabelsColor(color(p.dim));
    axis->setLinePenColor(color(p.line));
    axis->setGridLineColor(color(p.line));
  }
  panel.steps->setGridLineVisible(false);
  const Argb line = curve == loss            ? p.accent
                    : curve == gradient_norm ? p.of(SpanClass::weight_gradient)
                                             : p.of(SpanClass::transfer);
  panel.line->setPen(QPen(color(line), 1.5));
  panel.marker->setPen(QPen(faded(p.text, 0.35), 1));
  if (panel.floor != nullptr) panel.floor->setPen(QPen(color(p.good), 1, Qt::DashLine));
}

void TrainingView::request() {
  if (limit_.isActive()) {
    waiting_ = true;
    return;
  }
  refresh();
}

void TrainingView::showEvent(QShowEvent* event) {
  DataView::showEvent(event);
  refresh();
}

void TrainingView::refresh() {
  waiting_ = false;
  limit_.start();
  const auto figures = figures_.latest();
  std::array<std::vector<CurvePoint>, curve_count> curves;
  if (figures->run)
    for (const StepRow& row : figures->run->steps) {
      const auto x = static_cast<double>(row.step);
      curves[loss].push_back({x, row.loss});
      curves[gradient_norm].push_back({x, row.grad_norm});
      curves[tokens_per_s].push_back({x, row.tokens_per_s});
    }
  const auto view = source().view();
  const Hello* hello = view->hello();
  empty_ = true;
  for (int i = 0; i < curve_count; ++i) {
    Panel& panel = panels_[static_cast<std::size_t>(i)];
    const auto points = decimated(curves[static_cast<std::size_t>(i)], std::max(panel.view->width() - 60, 50));
    if (!points.empty()) empty_ = false;
    draw(panel, points, i == loss && hello != nullptr ? hello->entropy_nats : std::nan(""));
  }
  for (const Panel& panel : panels_) panel.view->setVisible(!empty_);
  mark_step();
  update();
}

void TrainingView::draw(Panel& panel, const std::vector<CurvePoint>& points, double floor) {
  QList<QPointF> list;
  list.reserve(static_cast<qsizetype>(points.size()));
  for (const CurvePoint& point : points) list.append({point.x, point.y});
  panel.line->setPointsVisible(list.size() == 1);
  panel.line->replace(list);
  if (points.empty()) return;
  const double last = std::max(points.front().x + 1, points.back().x);
  panel.steps->setRange(points.front().x, last);
  const double span = last - points.front().x;
  const auto step_ticks = round_ticks(0, span, std::max(2, panel.view->width() / 90));
  panel.steps->setTickType(QValueAxis::TicksDynamic);
  panel.steps->setTickAnchor(0);
  panel.steps->setTickInterval(std::max(1.0, step_ticks.size() > 1 ? step_ticks[1] - step_ticks[0] : span));
  auto [low, high] = value_range(points, floor);
  // A rate from zero: what wobbles by a tenth should look like a tenth.
  if (&panel == &panels_[tokens_per_s]) low = 0;
  panel.values->setRange(low, high);
  const auto ticks = round_ticks(low, high, std::max(2, panel.view->height() / 48));
  panel.values->setTickType(QValueAxis::TicksDynamic);
  panel.values->setTickAnchor(0);
  const double interval = ticks.size() > 1 ? ticks[1] - ticks[0] : high - low;
  panel.values->setTickInterval(interval);
  const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(interval) - 1e-9)), 0, 6);
  panel.values->setLabelFormat(QStringLiteral("%.%1f").arg(decimals));
  if (panel.floor != nullptr) {
    panel.floor->clear();
    if (std::isfinite(floor)) {
      panel.floor->replace(QList<QPointF>{{points.front().x, floor}, {last, floor}});
      panel.view->chart()->setTitle(
          tr("Loss, nats per token; dashed: entropy of the language %1").arg(text::number(floor)));
    } else {
      panel.view->chart()->setTitle(tr("Loss, nats per token"));
    }
  }
}

void TrainingView::mark_step() {
  for (Panel& panel : panels_) {
    panel.marker->clear();
    if (const auto step = state().step(); step && !empty_)
      panel.marker->replace(QList<QPointF>{{static_cast<double>(*step), panel.values->min()},
                                           {static_cast<double>(*step), panel.values->max()}});
  }
}

QList<QPointF> TrainingView::points(Curve curve) const {
  return panels_[static_cast<std::size_t>(curve)].line->points();
}

void TrainingView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(interface_font());
  painter.fillRect(rect(), color(colours().ground));
  if (empty_)
    paint_empty(
        painter, rect(), colours(), tr("Nothing has trained yet"),
        tr("Press Run: loss, gradient norm and tokens per second appear here step by step. A prediction alone has no "
           "loss."));
}

}  // namespace rankscope::app
