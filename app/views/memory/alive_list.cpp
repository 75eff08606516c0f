// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/memory/alive_list.hpp"

#include <QObject>
#include <algorithm>

#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr double row_height = 19, square = 10;
constexpr double between = 10;  ///< two columns

using text::tr;

/// Until which op it lives: "until B:c0:m3", "always".
QString until_words(const AliveBuffer& buffer) {
  return buffer.last.valid() ? tr("until %1").arg(QString::fromStdString(to_token(buffer.last))) : tr("always");
}

}  // namespace

AliveList alive_list(std::shared_ptr<const RankProgram> program, int rank, OpId op, const ClassBytes& seen,
                     const QString& moment, AliveList before) {
  // Another plan has ops of the same name.
  if (program != nullptr && before.program == program && before.rank == rank && before.op == op &&
      before.seen == seen && op.valid()) {
    before.moment = moment;
    return before;
  }
  AliveList list;
  list.rank = rank;
  list.moment = moment;
  const auto index = program != nullptr && op.valid() ? index_of(*program, op) : std::nullopt;
  if (!index) return list;
  list.op = op;
  list.program = program;
  list.seen = seen;
  list.buffers = alive_at(*program, *index);
  list.ended = drop_ended(list.buffers, op, seen);
  for (const AliveBuffer& buffer : list.buffers)
    if (buffer.memory != MemoryClass::host) list.device_bytes += buffer.bytes;
  return list;
}

void paint_alive(QPainter& painter, const QRectF& area, const AliveList& list, const Palette& colours) {
  if (list.buffers.empty() || area.height() < 3 * row_height) return;
  const QFontMetricsF metrics(interface_font());
  const auto line = [&](double y, const QString& words, Argb colour, double width) {
    painter.setFont(interface_font());
    painter.setPen(color(colour));
    painter.drawText(QRectF(area.left(), y, width, row_height), Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(words, Qt::ElideRight, width));
  };
  double y = area.top();
  line(y,
       (list.ended ? tr("live buffers %1, after %2") : tr("live buffers %1, during %2"))
           .arg(list.moment, QString::fromStdString(to_token(list.op))),
       colours.dim, area.width());
  y += row_height;
  line(y,
       tr("rank %1: %2 buffers, %3")
           .arg(list.rank)
           .arg(list.buffers.size())
           .arg(text::bytes(static_cast<double>(list.device_bytes))),
       colours.text, area.width());
  y += row_height + 4;
  std::size_t shown = 0;
  double rest = 0, bytes_width = 0;
  const QFontMetricsF numbers(number_font());
  for (const AliveBuffer& buffer : list.buffers)
    bytes_width =
        std::max(bytes_width, numbers.horizontalAdvance(text::bytes(static_cast<double>(buffer.bytes))) + between);
  for (const AliveBuffer& buffer : list.buffers) {
    const bool last = y + 2 * row_height > area.bottom() && shown + 1 < list.buffers.size();
    if (last || y + row_height > area.bottom() + 1) {
      rest += static_cast<double>(buffer.bytes);
      continue;
    }
    painter.fillRect(QRectF(area.left(), y + (row_height - square) / 2, square, square),
                     color(color_of(buffer.memory, colours)));
    painter.setFont(number_font());
    painter.setPen(color(colours.text));
    painter.drawText(QRectF(area.right() - bytes_width, y, bytes_width, row_height), Qt::AlignRight | Qt::AlignVCenter,
                     text::bytes(static_cast<double>(buffer.bytes)));
    const double left = area.left() + square + 6, room = area.right() - bytes_width - left;
    painter.setFont(interface_font());
    const QString name = QString::fromStdString(buffer.name), until = until_words(buffer);
    const double name_width = metrics.horizontalAdvance(name), until_width = metrics.horizontalAdvance(until);
    // If the two do not fit beside each other, the longer one is shortened in its middle.
    const double both = room - between, least = both / 2;
    const double for_name = name_width + until_width <= both ? name_width
                            : until_width <= least           ? both - until_width
                            : name_width <= least            ? name_width
                                                             : least;
    painter.drawText(QRectF(left, y, room, row_height), Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(name, Qt::ElideMiddle, for_name + 1));
    painter.setPen(color(colours.dim));
    painter.drawText(QRectF(left, y, room, row_height), Qt::AlignRight | Qt::AlignVCenter,
                     metrics.elidedText(until, Qt::ElideMiddle, both - for_name + 1));
    y += row_height;
    ++shown;
  }
  if (shown < list.buffers.size())
    line(y, tr("and %1 more, %2").arg(list.buffers.size() - shown).arg(text::bytes(rest)), colours.dim, area.width());
}

}  // namespace rankscope::app
