// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/traffic/heat_map.hpp"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <limits>

#include "app/views/common/data_view.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"
#include "engine/explain/facts/facts.hpp"

namespace rankscope::app {
namespace {

constexpr int head = 42, axis_name = 18, least_numbers_width = 22, numbers_gap = 6, numbers_height = 18;
constexpr int bar_gap = 14, bar_width = 12, highest_bar = 160;

constexpr int most_cells = 256;

}  // namespace

bool LinkMatrix::is_counted(int from, int to) const {
  return !counted.empty() && std::isfinite(counted[static_cast<std::size_t>(from * predicted.side + to)]);
}

double LinkMatrix::shown(int from, int to) const {
  return is_counted(from, to) ? counted[static_cast<std::size_t>(from * predicted.side + to)] : predicted.at(from, to);
}

double LinkMatrix::total() const {
  double sum = 0;
  for (int from = 0; from < predicted.side; ++from)
    for (int to = 0; to < predicted.side; ++to) sum += shown(from, to);
  return sum;
}

double LinkMatrix::greatest() const {
  double greatest = 0;
  for (int from = 0; from < predicted.side; ++from)
    for (int to = 0; to < predicted.side; ++to) greatest = std::max(greatest, shown(from, to));
  return greatest;
}

LinkMatrix::Source LinkMatrix::source() const {
  if (traced) return Source::traced;
  bool any_counted = false, any_predicted = false;
  for (int from = 0; from < predicted.side; ++from)
    for (int to = 0; to < predicted.side; ++to)
      if (shown(from, to) > 0) (is_counted(from, to) ? any_counted : any_predicted) = true;
  return !any_counted ? Source::predicted : any_predicted ? Source::both : Source::counted;
}

std::optional<LinkMatrix> link_matrix(const Figures& figures, std::optional<TrafficKey> only) {
  if (!figures.linked) return std::nullopt;
  LinkMatrix matrix;
  matrix.traced = figures.run && figures.run->is_imported;
  matrix.predicted = traffic_matrix(*figures.linked, figures.algorithm(), only, most_cells,
                                    matrix.traced ? Automatic::opaque : Automatic::direct);
  if (matrix.traced) return matrix;
  const bool has_values = !only && figures.run &&
                          std::any_of(figures.run->links.begin(), figures.run->links.end(),
                                      [](const LinkReport& link) { return std::isfinite(link.bytes); });
  if (!has_values || matrix.predicted.side != matrix.predicted.ranks) return matrix;
  // A pair that is not listed sent nothing, if its sender has counted its bytes.
  const auto side = static_cast<std::size_t>(matrix.predicted.side);
  std::vector<char> counts(side, 0), hides(side, 0);
  for (const LinkReport& link : figures.run->links)
    (std::isfinite(link.bytes) ? counts : hides)[static_cast<std::size_t>(link.from)] = 1;
  matrix.counted.assign(side * side, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t from = 0; from < side; ++from)
    if (counts[from] && !hides[from])
      std::fill_n(matrix.counted.begin() + static_cast<std::ptrdiff_t>(from * side), side, 0.0);
  for (const LinkReport& link : figures.run->links)
    matrix.counted[static_cast<std::size_t>(link.from) * side + static_cast<std::size_t>(link.to)] = link.bytes;
  return matrix;
}

HeatMap::HeatMap(QWidget* parent) : PaintedWidget(parent) {
  setMouseTracking(true);
  setAccessibleName(tr("Bytes from rank to rank in a step"));
}

void HeatMap::set_smallest(int pixels) {
  smallest_ = pixels;
  update();
}

void HeatMap::set_matrix(std::shared_ptr<const LinkMatrix> matrix, const QString& what) {
  matrix_ = std::move(matrix);
  greatest_ = matrix_ ? matrix_->greatest() : 0;
  what_ = what;
  update();
}

double HeatMap::scale_width() const {
  const QFontMetricsF metrics(number_font());
  double widest = 0;
  for (const double share : {1.0, 0.5, 0.0})
    widest = std::max(widest, metrics.horizontalAdvance(text::bytes(greatest_ * share)));
  return bar_gap + bar_width + 6 + std::ceil(widest);
}

QFont HeatMap::tick_font() const {
  QFont font = number_font();
  font.setPixelSize(std::max(smallest_, 11));
  return font;
}

double HeatMap::row_numbers_width() const {
  const int last = matrix_ ? std::max(matrix_->predicted.ranks - 1, 0) : 0;
  const double widest = std::ceil(QFontMetricsF(tick_font()).horizontalAdvance(QString::number(last)));
  return numbers_gap + std::max<double>(least_numbers_width, widest);
}

QRectF HeatMap::area() const {
  const int before = view_margin + axis_name + static_cast<int>(row_numbers_width()),
            above = head + axis_name + numbers_height;
  const double room_x = width() - before - scale_width() - view_margin, room_y = height() - above - view_margin;
  const double size = std::max(20.0, std::min(room_x, room_y));
  return {double(before), double(above), size, size};
}

int HeatMap::width_for(int height) const {
  const int cells = height - head - axis_name - numbers_height - view_margin;
  return 2 * view_margin + axis_name + static_cast<int>(row_numbers_width()) + std::max(20, cells) +
         static_cast<int>(scale_width());
}

QRectF HeatMap::cell_rect(int from, int to) const {
  const QRectF all = area();
  const double cell = all.width() / std::max(side(), 1);
  return {all.left() + to * cell, all.top() + from * cell, cell, cell};
}

Argb HeatMap::fill_of(double bytes) const {
  if (greatest_ <= 0 || bytes <= 0) return mixed(colours().ground, colours().text, 0.06F);
  return mixed(colours().panel, colours().accent, static_cast<float>(0.12 + 0.88 * bytes / greatest_));
}

QString HeatMap::range_of(int cell) const {
  const TrafficMatrix& ranks = matrix_->predicted;
  const int first = ranks.first_rank(cell);
  const int last = (cell + 1 < ranks.side ? ranks.first_rank(cell + 1) : ranks.ranks) - 1;
  return first == last ? QString::number(first) : QStringLiteral("%1–%2").arg(first).arg(last);
}

std::optional<std::pair<int, int>> HeatMap::cells_at(QPointF at) const {
  if (side() == 0 || !area().contains(at)) return std::nullopt;
  const double cell = area().width() / side();
  const int to = std::min(static_cast<int>((at.x() - area().left()) / cell), side() - 1);
  const int from = std::min(static_cast<int>((at.y() - area().top()) / cell), side() - 1);
  return std::pair{from, to};
}

void HeatMap::mousePressEvent(QMouseEvent* event) {
  const auto cells = event->button() == Qt::LeftButton ? cells_at(event->position()) : std::nullopt;
  if (!cells || side() != matrix_->predicted.ranks) return QWidget::mousePressEvent(event);
  emit link_clicked(cells->first, cells->second);
}

QString HeatMap::tip_at(QPoint at) const {
  const auto cells = cells_at(at);
  if (!cells) return {};
  const auto [from, to] = *cells;
  const double predicted = matrix_->predicted.at(from, to), shown = matrix_->shown(from, to);
  const QString pair = tr("rank %1 to rank %2: ").arg(range_of(from), range_of(to));
  if (!matrix_->is_counted(from, to))
    return pair +
           (matrix_->counted.empty()
                ? tr("%1 per step, predicted").arg(text::bytes(predicted))
                : tr("%1 per step, predicted; the sender could not count its bytes").arg(text::bytes(predicted)));
  const double more = shown - predicted;
  const QString difference = std::fabs(more) < 0.5 ? tr("as predicted")
                             : more > 0 ? tr("predicted %1, %2 more").arg(text::bytes(predicted), text::bytes(more))
                                        : tr("predicted %1, %2 less").arg(text::bytes(predicted), text::bytes(-more));
  return pair + tr("%1 per step, counted; %2").arg(text::bytes(shown), difference);
}

QString HeatMap::source_words() const {
  if (side() == 0) return {};
  const QString bytes = text::bytes(matrix_->total());
  switch (matrix_->source()) {
    case LinkMatrix::Source::counted: return tr("%1 per step, counted by the sender").arg(bytes);
    case LinkMatrix::Source::predicted: return tr("%1 per step, predicted").arg(bytes);
    case LinkMatrix::Source::traced:
      return tr("%1 per step in messages; the collectives' own bytes are not known").arg(bytes);
    case LinkMatrix::Source::both: return tr("%1 per step, counted; dotted: not counted, predicted").arg(bytes);
  }
  return {};
}

void HeatMap::paint_scale(QPainter& painter) const {
  const QRectF all = area();
  const QRectF bar(all.right() + bar_gap, all.top(), bar_width, std::min<double>(all.height(), highest_bar));
  for (int y = 0; y < static_cast<int>(bar.height()); ++y) {
    const double share = 1 - y / bar.height();
    painter.fillRect(QRectF(bar.left(), bar.top() + y, bar.width(), 1), color(fill_of(greatest_ * share)));
  }
  painter.setFont(number_font());
  painter.setPen(color(colours().dim));
  const double line = QFontMetricsF(number_font()).height();
  for (const double share : {1.0, 0.5, 0.0}) {
    const double y = bar.top() + (1 - share) * (bar.height() - line);
    painter.drawText(QRectF(bar.right() + 6, y, scale_width(), line), at_left, text::bytes(greatest_ * share));
  }
}

void HeatMap::paint_cells(QPainter& painter) const {
  const double cell = area().width() / side();
  const double gap = cell >= 10 ? 1 : 0;
  const bool partly = matrix_->source() == LinkMatrix::Source::both;
  QFont numbers = number_font();
  if (QFontMetricsF(numbers).horizontalAdvance(QStringLiteral("8,888 MiB")) > cell - 6) numbers.setPixelSize(smallest_);
  const QFontMetricsF metrics(numbers);
  painter.setFont(numbers);
  for (int from = 0; from < side(); ++from)
    for (int to = 0; to < side(); ++to) {
      const QRectF place = cell_rect(from, to).adjusted(0, 0, -gap, -gap);
      const double bytes = matrix_->shown(from, to);
      const Argb fill = fill_of(bytes);
      painter.fillRect(place, color(fill));
      if (partly && bytes > 0 && !matrix_->is_counted(from, to)) {  // along the edge, so that the number stays readable
        const double strip = std::min(8.0, place.height() / 4);
        const QRectF edge(place.left(), place.bottom() - strip, place.width(), strip);
        painter.fillRect(edge, color(colours().ground));
        painter.fillRect(edge, QBrush(color(colours().unknown), Qt::Dense5Pattern));
      }
      const QString number = text::bytes(bytes);
      if (bytes > 0 && cell >= 30 && metrics.horizontalAdvance(number) < cell - 6) {
        draw_text(painter, place, Qt::AlignCenter, number, colours().ink_on(fill));
      }
    }
}

HeatMap::Ticks HeatMap::ticks() const {
  Ticks ticks;
  if (side() == 0) return ticks;
  const QRectF all = area();
  const double cell = all.width() / side();
  const QFontMetricsF metrics(tick_font());
  const double line = std::ceil(metrics.height());
  const TrafficMatrix& ranks = matrix_->predicted;
  const double widest = metrics.horizontalAdvance(QString::number(ranks.ranks - 1));
  // Powers of two, as most group sizes are; the same on both axes, so that the diagonal is visible.
  int every = 1;
  while (every * cell < std::max(line, widest + 8)) every *= 2;
  for (int i = 0; i < side(); i += every) {
    const double middle = (i + 0.5) * cell, wide = metrics.horizontalAdvance(QString::number(ranks.first_rank(i)));
    ticks.rows.push_back({i, QRectF(all.left() - numbers_gap - wide, all.top() + middle - line / 2, wide, line)});
    ticks.columns.push_back(
        {i, QRectF(all.left() + middle - wide / 2, all.top() - (numbers_height + line) / 2, wide, line)});
  }
  return ticks;
}

void HeatMap::paint_axes(QPainter& painter) const {
  const QRectF all = area();
  painter.setFont(tick_font());
  painter.setPen(color(colours().dim));
  const Ticks numbers = ticks();
  for (const std::vector<Tick>* axis : {&numbers.rows, &numbers.columns})
    for (const Tick& tick : *axis)
      painter.drawText(tick.box, Qt::AlignCenter | Qt::TextDontClip,
                       QString::number(matrix_->predicted.first_rank(tick.cell)));
  painter.setFont(interface_font());
  const QFontMetricsF names(interface_font());
  const auto name = [&](const QString& whole, const QString& brief) {
    return names.horizontalAdvance(whole) < all.width() ? whole : brief;
  };
  painter.drawText(QRectF(all.left(), head, all.width(), axis_name), Qt::AlignCenter,
                   name(tr("to rank (receives)"), tr("to")));
  painter.save();
  painter.translate(view_margin - 6, all.bottom());
  painter.rotate(-90);
  painter.drawText(QRectF(0, 0, all.height(), axis_name), Qt::AlignCenter, name(tr("from rank (sends)"), tr("from")));
  painter.restore();
}

void HeatMap::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), color(colours().ground));
  if (side() < 2) return;
  painter.setFont(bold_font());
  const double room = width() - 2.0 * view_margin;
  draw_line(painter, QRectF(view_margin, 4, room, 17), at_left, tr("Rank to rank · %1").arg(what_), colours().text);
  painter.setFont(interface_font());
  draw_line(painter, QRectF(view_margin, 22, room, 17), at_left, source_words(), colours().dim);
  paint_cells(painter);
  paint_axes(painter);
  if (greatest_ > 0) paint_scale(painter);
}

}  // namespace rankscope::app
