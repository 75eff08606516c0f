// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/memory/memory_view.hpp"

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <cmath>

#include "app/models/run_plan.hpp"
#include "app/models/time_axis.hpp"
#include "app/views/common/axis.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr int header_height = 34, title_height = 20, axis_width = 56, foot_height = 24;
constexpr int top = header_height + title_height + 6;
constexpr int widest_bar = 56, narrowest_bar = 6;
constexpr int list_from = 860, narrowest_list = 300, widest_list = 440;  // a view of this width has space for the list

}  // namespace

MemoryView::MemoryView(SharedState& state, SnapshotSource& source, BubbleSource* programs, QWidget* parent)
    : DataView(state, source, parent),
      programs_(programs),
      ranks_(new QComboBox(this)),
      latest_([this](MemoryPicture picture) {
        picture_ = std::move(picture);
        list_alive();
        update();
      }) {
  setMouseTracking(true);
  setMinimumSize(360, 160);
  ranks_->setAccessibleName(tr("Rank to show over time"));
  ranks_->setToolTip(tr("The rank whose memory is shown over time"));
  ranks_->move(view_margin, 3);
  ranks_->hide();
  connect(ranks_, &QComboBox::activated, this, [this](int index) { set_rank(ranks_->itemData(index).toInt()); });
  connect(&source, &SnapshotSource::changed, this, [this] {
    refresh_ranks();
    refresh();
  });
  for (const auto signal : {&SharedState::visible_changed, &SharedState::shown_changed, &SharedState::step_changed})
    connect(&state, signal, this, &MemoryView::refresh);
  connect(&state, &SharedState::cursor_changed, this, [this] {
    list_alive();
    update();
  });
  connect(&state, &SharedState::selected_changed, this, [this, &state] {
    if (state.selected()) set_rank(state.selected()->rank);
  });
}

void MemoryView::set_rank(int rank) {
  if (rank == rank_) return;
  rank_ = rank;
  ranks_->setCurrentIndex(ranks_->findData(rank));
  refresh();
}

QString MemoryView::name_of(int rank) const {
  return identical_ranks_ > 1 ? tr("stage %1, %2 identical ranks").arg(rank).arg(identical_ranks_)
                              : tr("rank %1").arg(rank);
}

void MemoryView::refresh_ranks() {
  const auto view = source().view();
  std::vector<int> known;
  for (const LaneKey& lane : view->lanes())
    if (known.empty() || known.back() != lane.rank) known.push_back(lane.rank);
  int identical_ranks = identical_ranks_;
  if (const Hello* hello = view->hello(); hello != nullptr && hello->scenario_toml != scenario_) {
    scenario_ = hello->scenario_toml;
    const auto plan = plan_of(*view);
    identical_ranks = plan ? plan->identical_ranks : 1;
  }
  if (static_cast<int>(known.size()) != ranks_->count() || identical_ranks != identical_ranks_) {
    identical_ranks_ = identical_ranks;
    ranks_->clear();
    // The number of identical ranks is above the picture; the legend needs the space.
    for (const int rank : known)
      ranks_->addItem(identical_ranks_ > 1 ? tr("stage %1").arg(rank) : tr("rank %1").arg(rank), rank);
    ranks_->adjustSize();
    if (ranks_->findData(rank_) < 0 && !known.empty()) rank_ = known.front();
    ranks_->setCurrentIndex(ranks_->findData(rank_));
  }
  ranks_->setVisible(!known.empty() && !veiled());
}

void MemoryView::refresh() {
  if (!isVisible()) return;
  MemoryRequest request{source().view(),   source().prediction(), state().shown(), rank_,
                        state().visible(), time_area().width(),   state().step()};
  latest_.request([request = std::move(request)] { return compose_memory(request); });
}

void MemoryView::on_show() {
  refresh_ranks();
  refresh();
}

QRect MemoryView::alive_area() const {
  // A folded plan and an imported run have no programs, whose buffers could be listed.
  if (width() < list_from || programs_ == nullptr || identical_ranks_ > 1) return {};
  if (source().view()->facts(rank_) != nullptr) return {};
  const int wide = std::clamp(width() * 3 / 10, narrowest_list, widest_list);
  return {width() - view_margin - wide, header_height, wide, std::max(1, height() - header_height - 4)};
}

QRect MemoryView::peak_area() const {
  const int right = alive_area().isEmpty() ? width() - view_margin : alive_area().left() - 2 * view_margin;
  const int bars = std::max<int>(1, static_cast<int>(picture_.peaks.size()));
  const int needed = std::clamp(bars * (widest_bar + 12), 140, std::max(140, right * 2 / 5 - axis_width));
  return {right - needed, top, needed, std::max(1, height() - top - foot_height - 4)};
}

QRect MemoryView::time_area() const {
  const int right = peak_area().left() - axis_width - view_margin;
  return {view_margin + axis_width, top, std::max(1, right - view_margin - axis_width),
          std::max(1, height() - top - foot_height - 4)};
}

double MemoryView::axis_bytes() const { return static_cast<double>(picture_.greatest) * 1.08; }

double MemoryView::y_of(double bytes, const QRect& area) const {
  return area.bottom() + 1 - bytes / std::max(1.0, axis_bytes()) * area.height();
}

void MemoryView::paint(QPainter& painter) {
  if (picture_.empty()) {
    paint_empty(painter, rect(), colours(), tr("No memory to show yet"),
                tr("A run or a prediction fills this view: every rank's parameters, gradients, optimizer state, "
                   "activations, buffers and workspace over the step, and its data in host memory."));
    return;
  }
  paint_time(painter);
  paint_peaks(painter);
  if (const QRect list = alive_area(); !list.isEmpty()) {
    painter.setPen(color(colours().line));
    painter.drawLine(list.left() - view_margin, list.top(), list.left() - view_margin, list.bottom());
    paint_alive(painter, list, alive_, colours());
  }
  const int legend_left = ranks_->geometry().right() + 10;
  std::vector<std::pair<Argb, QString>> entries;
  for (int i = memory_class_count; i-- > 0;) {
    const auto memory = static_cast<MemoryClass>(i);
    if (!picture_.shows(memory)) continue;
    entries.emplace_back(color_of(memory, colours()),
                         memory == MemoryClass::host ? tr("host (not on the device)") : label_of(memory));
  }
  paint_legend(painter, QPointF(legend_left, 8), width() - view_margin - legend_left, colours(), entries);
}

void MemoryView::paint_axis(QPainter& painter, const QRect& area, bool labels) const {
  const Axis axis = byte_axis(axis_bytes(), std::max(2, area.height() / 36));
  painter.setFont(number_font());
  for (const Tick& tick : axis.ticks) {
    const double y = y_of(tick.value, area);
    painter.setPen(QPen(faded(colours().line, tick.value == 0 ? 1.0 : 0.6), 1));
    painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
    if (!labels) continue;
    painter.setPen(color(colours().dim));
    const QString text = &tick == &axis.ticks.back() ? tick.label + QChar(0xA0) + axis.unit : tick.label;
    painter.drawText(QRectF(area.left() - axis_width - view_margin + 4, y - 8, axis_width + view_margin - 10, 16),
                     at_right, text);
  }
  painter.setFont(interface_font());
}

void MemoryView::paint_time(QPainter& painter) const {
  const QRect area = time_area();
  paint_axis(painter, area, true);
  const auto& columns = picture_.columns;
  const int count = std::min<int>(area.width(), static_cast<int>(columns.size()));
  for (int i = 0; i < count; ++i) {
    const MemoryColumn& column = columns[static_cast<std::size_t>(i)];
    if (column.state == MemoryColumn::State::unknown) {
      painter.fillRect(QRect(area.left() + i, area.top(), 1, area.height()),
                       QBrush(color(colours().unknown), Qt::Dense6Pattern));
      continue;
    }
    if (column.state != MemoryColumn::State::known) continue;
    double below = 0;
    for (const MemoryClass memory : device_classes) {
      const double bytes = of(column.bytes, memory);
      if (bytes <= 0) continue;
      const double bottom = y_of(below, area), top = y_of(below + bytes, area);
      painter.fillRect(QRectF(area.left() + i, std::round(top), 1, std::round(bottom) - std::round(top)),
                       color(color_of(memory, colours())));
      below += bytes;
    }
    // The host's memory is not part of the stack: it has its own level.
    if (const double host = of(column.bytes, MemoryClass::host); host > 0)
      painter.fillRect(QRectF(area.left() + i, std::round(y_of(host, area)) - 1, 1, 3),
                       color(color_of(MemoryClass::host, colours())));
  }

  std::int64_t predicted_peak = -1;
  QPainterPath outline;
  bool open = false;
  for (std::size_t i = 0; i < picture_.predicted.size() && static_cast<int>(i) < area.width(); ++i) {
    const std::int64_t bytes = picture_.predicted[i];
    if (bytes < 0) {
      open = false;
      continue;
    }
    predicted_peak = std::max(predicted_peak, bytes);
    const QPointF at(area.left() + static_cast<int>(i) + 0.5, std::round(y_of(static_cast<double>(bytes), area)) + 0.5);
    if (open) {
      outline.lineTo(at.x(), outline.currentPosition().y());
      outline.lineTo(at);
    } else {
      outline.moveTo(at);
    }
    open = true;
  }
  if (!outline.isEmpty()) {
    painter.setPen(QPen(faded(colours().ground, 0.6), 2));
    painter.drawPath(outline);
    painter.setPen(QPen(color(colours().text), 1, Qt::DashLine));
    painter.drawPath(outline);
  }
  const QString who = name_of(picture_.rank);
  // The longest that fits: the peaks are also in the bars beside it.
  QStringList captions{tr("%1 over time").arg(who)};
  if (predicted_peak >= 0)
    captions
        << tr("%1 over time; dashed: predicted").arg(who)
        << tr("%1 over time; dashed: predicted, at most %2").arg(who, text::bytes(static_cast<double>(predicted_peak)));
  const int room = area.right() - view_margin;
  while (captions.size() > 1 && painter.fontMetrics().horizontalAdvance(captions.last()) > room) captions.removeLast();
  draw_line(painter, QRectF(view_margin, header_height, room, title_height), at_left, captions.last(), colours().dim);
  paint_time_axis(painter, area);

  if (const auto cursor = state().cursor(); cursor && !picture_.range.empty()) {
    const double x =
        static_cast<double>(*cursor - picture_.range.begin_ns) / static_cast<double>(picture_.range.length());
    if (x >= 0 && x <= 1)
      painter.fillRect(QRectF(area.left() + std::floor(x * area.width()), area.top(), 1, area.height()),
                       color(colours().accent));
  }
}

void MemoryView::paint_time_axis(QPainter& painter, const QRect& area) const {
  if (picture_.range.empty()) return;
  const TimeTicks axis = time_ticks(picture_.range, picture_.origin_ns, area.width() / 80);
  painter.setFont(number_font());
  const QFontMetricsF metrics(painter.font());
  double free_from = view_margin;
  for (const TimeTick& tick : axis.ticks) {
    const double share =
        static_cast<double>(tick.time_ns - picture_.range.begin_ns) / static_cast<double>(picture_.range.length());
    const double x = area.left() + share * area.width();
    const QString number = QString::fromStdString(tick.label);
    const QString label =
        &tick == &axis.ticks.back() ? number + QChar(0xA0) + QString::fromStdString(axis.unit) : number;
    const double wide = metrics.horizontalAdvance(label);
    painter.setPen(color(colours().faint));
    painter.drawLine(QPointF(x, area.bottom() + 1), QPointF(x, area.bottom() + 4));
    if (x - wide / 2 < free_from || x + wide / 2 > area.right() + axis_width - 8) continue;
    draw_text(painter, QRectF(x - wide / 2 - 2, area.bottom() + 5, wide + 4, 18), Qt::AlignHCenter | Qt::AlignVCenter,
              label, colours().dim);
    free_from = x + wide / 2 + 8;
  }
  painter.setFont(interface_font());
}

void MemoryView::paint_peaks(QPainter& painter) const {
  const QRect area = peak_area();
  const QRect title(area.left() - axis_width + 8, header_height, area.width() + axis_width - 8, title_height);
  const QString every = identical_ranks_ > 1 ? tr("every stage at its peak") : tr("every rank at its peak");
  QString words = state().step() ? tr("%1, step %2").arg(every).arg(*state().step()) : every;
  if (painter.fontMetrics().horizontalAdvance(words) > title.width())
    words = state().step() ? tr("peaks, step %1").arg(*state().step()) : tr("peaks");
  draw_line(painter, title, at_left, words, colours().dim);
  paint_axis(painter, area, true);
  if (picture_.peaks.empty()) return;
  const double slot = static_cast<double>(area.width()) / static_cast<double>(picture_.peaks.size());
  // Bars touch if there is no space for gaps of integer pixels.
  const double bar = slot < 1.5 * narrowest_bar ? slot : std::clamp(slot - 12, narrowest_bar - 1.0, double{widest_bar});
  // The host's memory is beside the device's.
  const double of_device = picture_.shows(MemoryClass::host) ? 0.6 : 1;
  const QFontMetricsF metrics(painter.font());
  const double label_width = metrics.horizontalAdvance(QString::number(picture_.peaks.back().rank)) + 8;
  const int spacing = std::max(1, static_cast<int>(std::ceil(label_width / slot)));
  for (std::size_t i = 0; i < picture_.peaks.size(); ++i) {
    const RankPeak& peak = picture_.peaks[i];
    const double exact = area.left() + slot * (static_cast<double>(i) + 0.5) - bar / 2;
    const double left = std::round(exact), right = std::round(exact + bar);
    const double device_bar = std::max(1.0, std::round((right - left) * of_device));
    double below = 0;
    for (const MemoryClass memory : device_classes) {
      const double bytes = of(peak.bytes, memory);
      if (bytes <= 0) continue;
      const double bottom = std::round(y_of(below, area)), top = std::round(y_of(below + bytes, area));
      painter.fillRect(QRectF(left, top, device_bar, bottom - top), color(color_of(memory, colours())));
      below += bytes;
    }
    if (const double host = of(peak.bytes, MemoryClass::host); host > 0) {
      const double top = std::round(y_of(host, area));
      painter.fillRect(QRectF(left + device_bar + 1, top, right - left - device_bar - 1, area.bottom() + 1 - top),
                       color(color_of(MemoryClass::host, colours())));
    }
    if (peak.predicted >= 0) {
      const double y = std::round(y_of(static_cast<double>(peak.predicted), area)) + 0.5;
      painter.setBrush(Qt::NoBrush);
      painter.setPen(QPen(color(colours().text), 1, Qt::DashLine));
      painter.drawRect(QRectF(left - 2.5, y, device_bar + 4, area.bottom() + 1 - y));
    }
    if (i % static_cast<std::size_t>(spacing) == 0) {
      draw_text(painter, QRectF(left + bar / 2 - 40, area.bottom() + 4, 80, 18), Qt::AlignHCenter | Qt::AlignVCenter,
                i == 0 && slot > 60 && identical_ranks_ == 1 ? name_of(peak.rank) : QString::number(peak.rank),
                peak.rank == picture_.rank ? colours().text : colours().dim);
    }
  }
}

AliveList MemoryView::alive_while(OpId op, const ClassBytes& seen, int rank, const QString& moment) const {
  const auto program = programs_ != nullptr ? programs_->program(rank) : nullptr;
  return alive_list(program, rank, op, seen, moment, alive_);
}

void MemoryView::list_alive() {
  const auto cursor = state().cursor();
  if (cursor && picture_.range.begin_ns <= *cursor && *cursor < picture_.range.end_ns && !picture_.columns.empty()) {
    const double share =
        static_cast<double>(*cursor - picture_.range.begin_ns) / static_cast<double>(picture_.range.length());
    const auto column = std::min(static_cast<std::size_t>(share * static_cast<double>(picture_.columns.size())),
                                 picture_.columns.size() - 1);
    alive_ =
        alive_while(picture_.columns[column].op, picture_.columns[column].bytes, picture_.rank, tr("at the cursor"));
    return;
  }
  AliveList at_peak;  // empty if the current plan has no such rank
  for (const RankPeak& peak : picture_.peaks)
    if (peak.rank == picture_.rank) at_peak = alive_while(peak.op, peak.bytes, peak.rank, tr("at the peak"));
  alive_ = std::move(at_peak);
}

void MemoryView::mouseMoveEvent(QMouseEvent* event) {
  const QRect area = time_area();
  if (!area.contains(event->pos()) || picture_.range.empty()) return;
  const double share = (event->position().x() - area.left()) / area.width();
  state().set_cursor(picture_.range.begin_ns +
                     static_cast<std::int64_t>(share * static_cast<double>(picture_.range.length())));
}

void MemoryView::mousePressEvent(QMouseEvent* event) {
  const QRect area = peak_area();
  if (!area.contains(event->pos()) || picture_.peaks.empty()) return;
  const auto index = static_cast<std::size_t>(event->pos().x() - area.left()) * picture_.peaks.size() /
                     static_cast<std::size_t>(area.width());
  if (index < picture_.peaks.size()) set_rank(picture_.peaks[index].rank);
}

void MemoryView::leaveEvent(QEvent*) { state().set_cursor(std::nullopt); }

}  // namespace rankscope::app
