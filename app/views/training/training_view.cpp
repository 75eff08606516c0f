// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/training/training_view.hpp"

#include <QGraphicsLayout>
#include <QLegend>
#include <QPainter>
#include <cmath>
#include <map>

#include "app/views/common/axis.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr int least_interval_ms = 200;
constexpr int least_width = 230, least_height = 150;  ///< of a curve that can be read

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
    : DataView(state, source, parent), figures_(figures), layout_(new QGridLayout(this)) {
  layout_->setContentsMargins(4, 0, 8, 0);
  layout_->setSpacing(0);
  panels_[loss] = make_panel(tr("Loss, nats per token"), loss);
  panels_[gradient_norm] = make_panel(tr("Gradient norm"), gradient_norm);
  panels_[learning_rate] = make_panel(tr("Learning rate"), learning_rate);
  panels_[tokens_per_s] = make_panel(tr("Tokens per second"), tokens_per_s);
  panels_[mfu] = make_panel(tr("Share of the peak, %: MFU; dashed: HFU"), mfu);
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
  if (curve == mfu) panel.second = add();
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
                    : curve == learning_rate ? p.of(SpanClass::optimizer)
                    : curve == tokens_per_s  ? p.of(SpanClass::transfer)
                                             : p.of(SpanClass::forward);
  panel.line->setPen(QPen(color(line), 1.5));
  panel.marker->setPen(QPen(faded(p.text, 0.35), 1));
  if (panel.floor != nullptr) panel.floor->setPen(QPen(color(p.good), 1, Qt::DashLine));
  if (panel.second != nullptr) panel.second->setPen(QPen(color(p.of(SpanClass::recompute)), 1.5, Qt::DashLine));
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
  std::array<std::vector<CurvePoint>, curve_count> curves;
  std::vector<CurvePoint> hfu;
  for (const Row& row : rows_now()) {
    const auto x = static_cast<double>(row.step);
    for (std::size_t c = 0; c < curve_count; ++c) curves[c].push_back({x, row.values[c]});
    hfu.push_back({x, row.hfu});
  }
  const auto view = source().view();
  const Hello* hello = view->hello();
  empty_ = true;
  for (int i = 0; i < curve_count; ++i) {
    Panel& panel = panels_[static_cast<std::size_t>(i)];
    const int pixels = std::max(panel.view->width() - 60, 50);
    const auto points = decimated(curves[static_cast<std::size_t>(i)], pixels);
    if (!points.empty()) empty_ = false;
    draw(static_cast<Curve>(i), points, i == loss && hello != nullptr ? hello->entropy_nats : std::nan(""));
    if (panel.second == nullptr) continue;
    QList<QPointF> list;
    for (const CurvePoint& point : decimated(hfu, pixels)) list.append({point.x, point.y});
    panel.second->replace(list);
    for (const QPointF& point : list) panel.values->setMax(std::max(panel.values->max(), point.y() * 1.06));
  }
  arrange();
  mark_step();
  update();
}

std::vector<TrainingView::Row> TrainingView::rows_now() const {
  std::vector<Row> rows;
  const auto figures = figures_.latest();
  if (!figures->run) return rows;
  const auto view = source().view();
  const Hello* hello = view->hello();
  const int ranks = figures->run->ranks;
  struct Sums {
    double rate = std::nan(""), model = 0, hardware = 0;
  };
  std::map<std::uint32_t, Sums> sums;
  for (int rank = 0; rank < ranks; ++rank)
    for (const StepSummary& summary : view->summaries(rank)) {
      Sums& sum = sums[summary.step];
      if (!std::isfinite(sum.rate)) sum.rate = summary.learning_rate;
      sum.model += summary.model_flops;
      sum.hardware += summary.hardware_flops;
    }
  for (const StepRow& step : figures->run->steps) {
    Row row;
    row.step = step.step;
    row.values = {step.loss, step.grad_norm, std::nan(""), step.tokens_per_s, std::nan("")};
    if (const auto sum = sums.find(step.step); sum != sums.end()) {
      row.values[learning_rate] = sum->second.rate;
      const double peak = hello != nullptr ? hello->peak_flops * ranks * step.seconds : 0;
      if (peak > 0 && sum->second.model > 0) {
        row.values[mfu] = 100 * sum->second.model / peak;
        row.hfu = 100 * sum->second.hardware / peak;
      }
    }
    rows.push_back(row);
  }
  return rows;
}

ViewTable TrainingView::table() const {
  ViewTable table{{tr("step"), tr("loss, nats per token"), tr("gradient norm"), tr("learning rate"),
                   tr("tokens per second"), tr("MFU, %"), tr("HFU, %")},
                  {}};
  for (const Row& row : rows_now()) {
    QStringList cells{QString::number(row.step)};
    for (const double value : row.values) cells << plain(value);
    table.rows.push_back(cells << plain(row.hfu));
  }
  return table;
}

// As many beside each other as can be read, the others below; what has no room is left out, the last first.
void TrainingView::arrange() {
  const int columns = std::clamp(width() / least_width, 1, static_cast<int>(curve_count));
  const int lines = std::max(1, height() / least_height);
  int place = 0;
  for (int i = 0; i < static_cast<int>(curve_count); ++i) {
    layout_->setColumnStretch(i, i < columns ? 1 : 0);
    layout_->setRowStretch(i, i < lines ? 1 : 0);
  }
  for (const Panel& panel : panels_) {
    const bool there = !empty_ && !panel.line->points().isEmpty() && place < columns * lines;
    layout_->removeWidget(panel.view);
    panel.view->setVisible(there);
    if (!there) continue;
    layout_->addWidget(panel.view, place / columns, place % columns);
    ++place;
  }
}

void TrainingView::resizeEvent(QResizeEvent* event) {
  DataView::resizeEvent(event);
  arrange();
}

void TrainingView::draw(Curve curve, const std::vector<CurvePoint>& points, double floor) {
  Panel& panel = panels_[static_cast<std::size_t>(curve)];
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
  if (curve == tokens_per_s || curve == mfu || curve == learning_rate) low = 0;
  panel.values->setRange(low, high);
  const auto ticks = round_ticks(low, high, std::max(2, panel.view->height() / 48));
  panel.values->setTickType(QValueAxis::TicksDynamic);
  panel.values->setTickAnchor(0);
  const double interval = ticks.size() > 1 ? ticks[1] - ticks[0] : high - low;
  panel.values->setTickInterval(interval);
  const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(interval) - 1e-9)), 0, 8);
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
