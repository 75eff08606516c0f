// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/traffic/heat_map.hpp"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "app/views/common/data_view.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr int margin = 12, head = 40, side_labels = 34, top_labels = 20, scale_width = 86;

}  // namespace

HeatMap::HeatMap(QWidget* parent) : QWidget(parent), colours_(&palette_of(Theme::dark)) {
  setMouseTracking(true);
  setAccessibleName(tr("Bytes from rank to rank in a step"));
}

void HeatMap::set_theme(Theme theme) {
  colours_ = &palette_of(theme);
  update();
}

void HeatMap::set_smallest(int pixels) {
  smallest_ = pixels;
  update();
}

void HeatMap::set_matrix(std::shared_ptr<const TrafficMatrix> matrix, const QString& what) {
  matrix_ = std::move(matrix);
  what_ = what;
  update();
}

QRectF HeatMap::area() const {
  const double room_x = width() - 2 * margin - side_labels - scale_width;
  const double room_y = height() - head - top_labels - margin;
  const double size = std::max(20.0, std::min(room_x, room_y));
  return {double(margin + side_labels), double(head + top_labels), size, size};
}

QRectF HeatMap::cell_rect(int from, int to) const {
  const QRectF all = area();
  const double cell = all.width() / std::max(matrix_ ? matrix_->side : 1, 1);
  return {all.left() + to * cell, all.top() + from * cell, cell, cell};
}

Argb HeatMap::fill_of(double bytes) const {
  if (!matrix_ || matrix_->greatest <= 0 || bytes <= 0) return mixed(colours_->ground, colours_->text, 0.06F);
  const double share = bytes / matrix_->greatest;
  return mixed(colours_->panel, colours_->accent, static_cast<float>(0.12 + 0.88 * share));
}

QString HeatMap::range_of(int cell) const {
  const int first = matrix_->first_rank(cell);
  const int last = (cell + 1 < matrix_->side ? matrix_->first_rank(cell + 1) : matrix_->ranks) - 1;
  return first == last ? QString::number(first) : QStringLiteral("%1–%2").arg(first).arg(last);
}

QString HeatMap::words_at(QPointF at) const {
  if (!matrix_ || matrix_->side == 0 || !area().contains(at)) return {};
  const double cell = area().width() / matrix_->side;
  const int to = std::min(static_cast<int>((at.x() - area().left()) / cell), matrix_->side - 1);
  const int from = std::min(static_cast<int>((at.y() - area().top()) / cell), matrix_->side - 1);
  QString words =
      tr("rank %1 to rank %2: %3 a step").arg(range_of(from), range_of(to), text::bytes(matrix_->at(from, to)));
  if (matrix_->hides(from, to)) words += tr(", and what the communicator's own collectives move, which nobody counts");
  return words;
}

void HeatMap::paint_scale(QPainter& painter) const {
  const QRectF all = area();
  const QRectF bar(all.right() + 14, all.top(), 12, std::min(all.height(), 160.0));
  for (int y = 0; y < static_cast<int>(bar.height()); ++y) {
    const double share = 1 - y / bar.height();
    painter.fillRect(QRectF(bar.left(), bar.top() + y, bar.width(), 1), color(fill_of(matrix_->greatest * share)));
  }
  painter.setFont(number_font());
  painter.setPen(color(colours_->dim));
  for (const double share : {1.0, 0.5, 0.0}) {
    const double y = bar.top() + (1 - share) * bar.height();
    painter.drawText(QRectF(bar.right() + 6, y - 8, scale_width, 16), Qt::AlignLeft | Qt::AlignVCenter,
                     text::bytes(matrix_->greatest * share));
  }
}

void HeatMap::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), color(colours_->ground));
  if (!matrix_ || matrix_->side < 2) return;
  const TrafficMatrix& m = *matrix_;
  QFont bold = interface_font();
  bold.setWeight(QFont::DemiBold);
  painter.setFont(bold);
  painter.setPen(color(colours_->text));
  const double room = width() - 2.0 * margin;
  painter.drawText(QRectF(margin, 4, room, 17), Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetricsF(bold).elidedText(tr("Rank to rank · %1").arg(what_), Qt::ElideRight, room));
  painter.setFont(interface_font());
  painter.setPen(color(colours_->dim));
  bool hides = false;
  for (const char hidden : m.hidden) hides = hides || hidden != 0;
  const QString under = hides ? tr("%1 a step; dotted: opaque collectives besides").arg(text::bytes(m.total))
                              : tr("%1 a step in all; row sends, column receives").arg(text::bytes(m.total));
  painter.drawText(QRectF(margin, 22, room, 17), Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetricsF(interface_font()).elidedText(under, Qt::ElideRight, room));

  const QRectF all = area();
  const double cell = all.width() / m.side;
  const double gap = cell >= 10 ? 1 : 0;
  QFont numbers = number_font();
  numbers.setPixelSize(smallest_);
  const QFontMetricsF metrics(numbers);
  painter.setFont(numbers);
  for (int from = 0; from < m.side; ++from)
    for (int to = 0; to < m.side; ++to) {
      const QRectF place = cell_rect(from, to).adjusted(0, 0, -gap, -gap);
      const Argb fill = fill_of(m.at(from, to));
      painter.fillRect(place, color(fill));
      if (m.hides(from, to)) {  // over a number's cell along its edge alone, so that the number can be read
        const double strip = m.at(from, to) > 0 ? std::min(8.0, place.height() / 4) : place.height();
        painter.fillRect(QRectF(place.left(), place.bottom() - strip, place.width(), strip), color(colours_->ground));
        painter.fillRect(QRectF(place.left(), place.bottom() - strip, place.width(), strip),
                         QBrush(color(colours_->unknown), Qt::Dense5Pattern));
      }
      const QString number = text::bytes(m.at(from, to));
      if (m.at(from, to) > 0 && cell >= 30 && metrics.horizontalAdvance(number) < cell - 6) {
        painter.setPen(color(colours_->ink_on(fill)));
        painter.drawText(place, Qt::AlignCenter, number);
      }
    }
  painter.setPen(color(colours_->dim));
  const int every_row = std::max(1, static_cast<int>(std::ceil(15 / cell)));
  const double widest = metrics.horizontalAdvance(QString::number(m.ranks - 1)) + 8;
  const int every_column = std::max(1, static_cast<int>(std::ceil(widest / cell)));
  for (int i = 0; i < m.side; i += every_row)
    painter.drawText(QRectF(margin - 8, all.top() + i * cell, side_labels + 2, std::max(cell, 15.0)),
                     Qt::AlignRight | Qt::AlignVCenter, QString::number(m.first_rank(i)));
  for (int i = 0; i < m.side; i += every_column)
    painter.drawText(QRectF(all.left() + i * cell, head, std::max(cell, widest), top_labels - 3), Qt::AlignCenter,
                     QString::number(m.first_rank(i)));
  if (m.greatest > 0) paint_scale(painter);
}

bool HeatMap::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  auto* help = static_cast<QHelpEvent*>(event);
  QToolTip::showText(help->globalPos(), words_at(help->pos()), this);
  return true;
}

}  // namespace rankscope::app
