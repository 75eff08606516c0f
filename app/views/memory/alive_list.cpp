// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/memory/alive_list.hpp"

#include <algorithm>

#include "app/models/translated.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr double row_height = 19, square = 10;
constexpr double between = 10;  ///< two columns

using text::tr;

/// The op until which it lives: "until B:c0:m3", "always".
QString until_words(const AliveBuffer& buffer) {
  return buffer.last.valid() ? tr("until %1").arg(QString::fromStdString(to_token(buffer.last))) : tr("always");
}

}  // namespace

std::vector<AliveBuffer> alive_at(const RankProgram& program, OpIndex op) {
  const std::vector<Lifetime> lifetimes = lifetimes_of(program);
  std::vector<AliveBuffer> alive;
  for (BufferIndex b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.within >= 0 || buffer.bytes() == 0) continue;
    const Lifetime& life = lifetimes[b];
    if (buffer.persistent)
      alive.push_back({buffer.name, ledger_class(buffer), buffer.bytes(), {}, {}});
    else if (life.used() && life.first <= op && op <= life.last)
      alive.push_back(
          {buffer.name, ledger_class(buffer), buffer.bytes(), program.ops[life.first].id, program.ops[life.last].id});
  }
  if (program.scratch_bytes > 0)
    alive.push_back({translated("kernel workspace"), MemoryClass::workspace, program.scratch_bytes, {}, {}});
  if (program.context_bytes > 0)
    alive.push_back(
        {translated("driver and libraries of the device"), MemoryClass::context, program.context_bytes, {}, {}});
  if (program.host_scratch_bytes > 0)
    alive.push_back(
        {translated("kernel workspace on the host"), MemoryClass::host, program.host_scratch_bytes, {}, {}});
  std::stable_sort(alive.begin(), alive.end(),
                   [](const AliveBuffer& a, const AliveBuffer& b) { return a.bytes > b.bytes; });
  return alive;
}

bool drop_ended(std::vector<AliveBuffer>& alive, OpId op, const ClassBytes& seen) {
  ClassBytes during{};
  for (const AliveBuffer& buffer : alive) during[static_cast<std::size_t>(buffer.memory)] += buffer.bytes;
  bool less = false;
  for (const MemoryClass memory : {MemoryClass::parameters, MemoryClass::gradients, MemoryClass::optimizer,
                                   MemoryClass::activations, MemoryClass::buffers})
    less = less || seen[static_cast<std::size_t>(memory)] < during[static_cast<std::size_t>(memory)];
  if (less) std::erase_if(alive, [op](const AliveBuffer& buffer) { return buffer.last.valid() && buffer.last == op; });
  return less;
}

std::optional<OpIndex> index_of(const RankProgram& program, OpId op) {
  const auto found = std::find_if(program.ops.begin(), program.ops.end(), [&](const Op& o) { return o.id == op; });
  if (found == program.ops.end()) return std::nullopt;
  return static_cast<OpIndex>(found - program.ops.begin());
}

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
    draw_line(painter, QRectF(area.left(), y, width, row_height), at_left, words, colour);
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
    draw_text(painter, QRectF(area.right() - bytes_width, y, bytes_width, row_height), at_right,
              text::bytes(static_cast<double>(buffer.bytes)), colours.text);
    const double left = area.left() + square + 6, room = area.right() - bytes_width - left;
    painter.setFont(interface_font());
    const QString name = QString::fromStdString(buffer.name), until = until_words(buffer);
    const double name_width = metrics.horizontalAdvance(name), until_width = metrics.horizontalAdvance(until);
    // If the two do not fit side by side, the longer one is shortened in its middle.
    const double both = room - between, least = both / 2;
    const double for_name = name_width + until_width <= both ? name_width
                            : until_width <= least           ? both - until_width
                            : name_width <= least            ? name_width
                                                             : least;
    painter.drawText(QRectF(left, y, room, row_height), at_left,
                     metrics.elidedText(name, Qt::ElideMiddle, for_name + 1));
    draw_text(painter, QRectF(left, y, room, row_height), at_right,
              metrics.elidedText(until, Qt::ElideMiddle, both - for_name + 1), colours.dim);
    y += row_height;
    ++shown;
  }
  if (shown < list.buffers.size())
    line(y, tr("and %1 more, %2").arg(list.buffers.size() - shown).arg(text::bytes(rest)), colours.dim, area.width());
}

}  // namespace rankscope::app
