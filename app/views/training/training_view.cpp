// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/training/training_view.hpp"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "app/views/common/parts.hpp"
#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr int least_interval_ms = 200;
constexpr int least_width = 230, least_height = 138;  ///< of a readable curve
constexpr int preferred_height = 380;                 ///< of the view, for two rows of curves
constexpr double best_shape = 1.6;                    ///< width over height of a curve that is easy to read

/// The source of the joules, and what is drawn with them.
QString words_of(const EnergyReport& energy) {
  const QString counted =
      energy.source == PowerSource::nvml
          ? (energy.counters == 1 ? TrainingView::tr("of the GPU, by NVML")
                                  : TrainingView::tr("of %1 GPUs, by NVML").arg(energy.counters))
          : (energy.counters == 1
                 ? TrainingView::tr("of everything on the processors, by RAPL")
                 : TrainingView::tr("of everything on the processors of %1 hosts, by RAPL").arg(energy.counters));
  return std::isfinite(energy.predicted_watts)
             ? TrainingView::tr("%1; dashed: predicted, %2").arg(counted, text::number(energy.predicted_watts))
             : counted;
}

/// The number of columns with which this many charts are largest, each at least `least` wide.
int best_columns(int charts, int width, int height, int least) {
  int best = 1;
  double largest = 0;
  for (int columns = 1; columns <= std::max(1, std::min(charts, width / least)); ++columns) {
    const int lines = (charts + columns - 1) / columns;
    const double high = std::max<double>(least_height, static_cast<double>(height) / lines);
    const double size = std::min(static_cast<double>(width) / columns / best_shape, high);
    // Below the least height the view scrolls, with as few lines as possible.
    const double score = size - (height < lines * least_height ? 1e4 * lines : 0);
    if (score <= largest && columns > 1) continue;
    largest = score;
    best = columns;
  }
  return best;
}

constexpr int most_cells = (static_cast<int>(curve_count) + 1) * static_cast<int>(curve_count);

}  // namespace

std::vector<TrainingRow> training_rows(const Figures& figures, const StoreView& view) {
  std::vector<TrainingRow> rows;
  if (!figures.run || (figures.scenario && figures.scenario->model.is_collective())) return rows;
  const int ranks = figures.run->ranks;
  const Hello* hello = view.hello();
  for (const StepRow& step : figures.run->steps) {
    TrainingRow& row = rows.emplace_back();
    row.step = step.step;
    row.values.fill(std::nan(""));
    row[Curve::loss] = step.loss;
    row[Curve::gradient_norm] = step.grad_norm;
    row[Curve::tokens_per_s] = step.tokens_per_s;
    row[Curve::power] = step.watts;
    const StepTotals* totals = figures.totals ? figures.totals->steps.find(step.step) : nullptr;
    if (totals == nullptr) continue;
    row[Curve::learning_rate] = totals->learning_rate;
    if (totals->loss_scale > 0) row[Curve::loss_scale] = totals->loss_scale;
    const double peak = hello != nullptr ? hello->peak_flops * ranks * step.seconds : 0;
    if (!(peak > 0) || !(totals->model_flops > 0)) continue;
    // More than the peak is impossible, so it is unknown (Report::faults).
    const auto share_of = [peak](double flops) { return flops <= peak ? 100 * flops / peak : std::nan(""); };
    row[Curve::mfu] = share_of(totals->model_flops);
    row.hfu = share_of(totals->hardware_flops);
  }
  return rows;
}

std::vector<int> line_lengths(int charts, int columns) {
  const int lines = (charts + columns - 1) / columns;
  std::vector<int> lengths(static_cast<std::size_t>(lines), charts / lines);
  for (int i = 0; i < charts % lines; ++i) ++lengths[lengths.size() - 1 - static_cast<std::size_t>(i)];
  return lengths;
}

TrainingView::TrainingView(SharedState& state, SnapshotSource& source, FiguresModel& figures, QWidget* parent)
    : DataView(state, source, parent), figures_(figures), scroll_(new QScrollArea(this)) {
  setProperty(preferred_height_property, preferred_height);
  column_in(this, 0, {4, 0, 4, 0})->addWidget(scroll_);
  scroll_->setWidgetResizable(true);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* page = new QWidget;
  layout_ = new QGridLayout(page);
  layout_->setContentsMargins(0, 0, 4, 0);
  layout_->setSpacing(0);
  scroll_->setWidget(page);
  const auto make = [&](Curve curve, const QString& title, bool from_zero) {
    charts_[static_cast<std::size_t>(curve)] = new CurveChart(title, from_zero, page);
  };
  make(Curve::loss, tr("Loss, nats per token"), false);
  make(Curve::gradient_norm, tr("Gradient norm"), false);
  make(Curve::learning_rate, tr("Learning rate"), true);
  make(Curve::loss_scale, tr("Loss scale"), true);
  make(Curve::tokens_per_s, tr("Tokens per second"), true);
  make(Curve::mfu, tr("MFU, % of the peak"), true);
  make(Curve::power, tr("Power, watts"), true);
  magnitudes_ = new MagnitudeChart(page);
  set_up_pause(limit_, least_interval_ms, this, [this] {
    if (waiting_) refresh();
  });
  connect(&figures, &FiguresModel::changed, this, &TrainingView::request);
  connect(&state, &SharedState::step_changed, this, &TrainingView::mark_step);
  take_colours();
  refresh();
}

void TrainingView::take_colours() {
  const Palette& p = colours();
  of(Curve::loss).set_colours(p, p.accent, p.good);
  of(Curve::gradient_norm).set_colours(p, p.of(SpanClass::weight_gradient), p.dim);
  of(Curve::learning_rate).set_colours(p, p.of(SpanClass::optimizer), p.dim);
  of(Curve::loss_scale).set_colours(p, p.of(SpanClass::backward), p.dim);
  of(Curve::tokens_per_s).set_colours(p, p.of(SpanClass::transfer), p.dim);
  of(Curve::mfu).set_colours(p, p.of(SpanClass::forward), p.of(SpanClass::recompute));
  of(Curve::power).set_colours(p, p.of(SpanClass::collective), p.dim);
}

void TrainingView::request() {
  if (limit_.isActive()) {
    waiting_ = true;
    return;
  }
  refresh();
}

void TrainingView::refresh() {
  waiting_ = false;
  limit_.start();
  std::array<CurveData, curve_count> curves;
  const auto at = [&](Curve curve) -> CurveData& { return curves[static_cast<std::size_t>(curve)]; };
  const std::vector<TrainingRow> rows = this->rows();
  for (CurveData& curve : curves) {
    if (rows.empty()) break;
    curve.first = rows.front().step;
    curve.last = std::max(curve.first + 1, static_cast<double>(rows.back().step));
  }
  // A step without a value (not reported, lost, a skipped update) is unknown: the line has a gap there.
  const auto add = [](std::vector<CurvePoint>& points, double step, double value) {
    if (!points.empty() && points.back().x + 1 < step) points.push_back({points.back().x + 1, std::nan("")});
    points.push_back({step, value});
  };
  for (const TrainingRow& row : rows) {
    const auto step = static_cast<double>(row.step);
    for (std::size_t c = 0; c < curve_count; ++c) add(curves[c].points, step, row.values[c]);
    add(at(Curve::mfu).dashed, step, row.hfu);
  }
  const auto view = source().view();
  const Hello* hello = view->hello();
  if (hello != nullptr && std::isfinite(hello->entropy_nats)) {
    at(Curve::loss).level = hello->entropy_nats;
    at(Curve::loss).note = tr("dashed: entropy of the data, %1").arg(text::number(hello->entropy_nats));
  }
  // A resnet predicts one class per image, not tokens.
  const auto known = figures_.latest();
  const bool images = known->scenario && known->scenario->model.is_resnet();
  of(Curve::loss).set_title(images ? tr("Loss, nats per image") : tr("Loss, nats per token"));
  of(Curve::tokens_per_s).set_title(images ? tr("Images per second") : tr("Tokens per second"));
  // An overflowed update, which only fp16 has, is omitted.
  const bool left_out = std::any_of(rows.begin(), rows.end(), [](const TrainingRow& row) {
    return std::isfinite(row[Curve::loss_scale]) && !std::isfinite(row[Curve::gradient_norm]);
  });
  at(Curve::gradient_norm).note =
      left_out ? tr("before clipping; a gap is an overflow: no update") : tr("over all parameters, before clipping");
  at(Curve::loss_scale).note = tr("fp16: halved after an overflow");
  at(Curve::tokens_per_s).note = tr("of all ranks");
  at(Curve::mfu).note = tr("dashed: HFU, with recomputation");
  if (const auto figures = figures_.latest(); figures->run) {
    const EnergyReport& energy = figures->run->energy;
    at(Curve::power).note = words_of(energy);
    if (std::isfinite(energy.predicted_watts)) at(Curve::power).level = energy.predicted_watts;
  }
  for (std::size_t c = 0; c < curve_count; ++c) charts_[c]->show_data(curves[c]);
  show_magnitudes();
  arrange();
  mark_step();
  update();
}

ViewTable TrainingView::rows_shown() const {
  ViewTable table{{tr("step"), tr("loss, nats per token"), tr("gradient norm"), tr("learning rate"), tr("loss scale"),
                   tr("tokens per second"), tr("MFU, %"), tr("power, W"), tr("HFU, %")},
                  {}};
  for (const TrainingRow& row : rows()) {
    QStringList cells{QString::number(row.step)};
    for (const double value : row.values) cells << plain(value);
    table.rows.push_back(cells << plain(row.hfu));
  }
  return table;
}

// Charts are as large as possible; if the view is too low for all of them, it scrolls.
void TrainingView::arrange() {
  std::vector<QWidget*> there;
  const auto add = [&](QWidget* chart, bool filled) {
    const bool shown = filled && !veiled();
    chart->setVisible(shown);
    layout_->removeWidget(chart);
    if (shown) there.push_back(chart);
  };
  for (CurveChart* chart : charts_) add(chart, chart->filled());
  add(magnitudes_, magnitudes_->filled());
  scroll_->setVisible(!there.empty());
  if (there.empty()) return;
  const std::vector<int> lines = line_lengths(
      static_cast<int>(there.size()), best_columns(static_cast<int>(there.size()), width(), height(), least_width));
  // Lines differ by one chart at most: this number of grid columns is divisible by both.
  const int cells = lines.front() == lines.back() ? lines.back() : lines.front() * lines.back();
  for (int i = 0; i < most_cells; ++i) layout_->setColumnStretch(i, i < cells ? 1 : 0);
  std::size_t next = 0;
  for (int i = 0; i < static_cast<int>(curve_count) + 1; ++i) {
    const bool line = i < static_cast<int>(lines.size());
    layout_->setRowStretch(i, line ? 1 : 0);
    layout_->setRowMinimumHeight(i, line ? std::min(least_height, std::max(120, height())) : 0);
    if (!line) continue;
    const int wide = cells / lines[static_cast<std::size_t>(i)];
    for (int at = 0; at < cells; at += wide) layout_->addWidget(there[next++], i, at, 1, wide);
  }
}

void TrainingView::show_magnitudes() { magnitudes_->show_data(magnitudes_at(*figures_.latest(), state().step())); }

void TrainingView::mark_step() {
  const auto step = state().step();
  show_magnitudes();
  for (CurveChart* chart : charts_)
    chart->mark_step(step ? std::optional<double>(static_cast<double>(*step)) : std::nullopt);
}

void TrainingView::paint(QPainter& painter) {
  if (!scroll_->isHidden()) return;
  const auto latest = figures_.latest();
  if (latest->scenario && latest->scenario->model.is_collective())
    paint_empty(
        painter, rect(), colours(), tr("A single collective trains nothing"),
        tr("Its phases and bytes are in the Collectives view. A scenario with a model has a loss to show here."));
  else
    paint_empty(
        painter, rect(), colours(), tr("No training yet"),
        (cannot_run_.isEmpty() ? tr("Press Run.") : cannot_run_) + QLatin1Char(' ') +
            tr("A run's loss, gradient norm and tokens per second appear here step by step. A prediction alone has no "
               "loss."));
}

void TrainingView::set_cannot_run(const QString& why) {
  if (why == cannot_run_) return;
  cannot_run_ = why;
  update();
}

}  // namespace rankscope::app
