// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/traffic/exchange_painter.hpp"

#include <algorithm>
#include <cmath>

#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"
#include "app/views/traffic/exchange_sizes.hpp"
#include "engine/op/contains.hpp"

namespace rankscope::app {
namespace {

using namespace exchange;
using text::tr;

QString spans_name() { return tr("waiting + moving"); }

}  // namespace

Argb ExchangePainter::mark() const {
  return s_.colours->of(is_collective(s_.exchange->kind) ? SpanClass::collective : SpanClass::transfer,
                        s_.exchange->op.lane());
}

void ExchangePainter::paint(QPainter& painter) const {
  words(painter);
  painter.setRenderHint(QPainter::Antialiasing);
  if (!s_.exchange->moves.empty()) moves(painter);
  if (!places_.empty()) members(painter);
  painter.setRenderHint(QPainter::Antialiasing, false);
  if (times_.width() > 0) times(painter, times_);
  if (!explained_.isEmpty()) {
    painter.setFont(interface_font());
    draw_text(painter, explained_, wrapped, explanation(), s_.colours->dim);
  }
  if (facts_area_.height() > 0) facts_.paint(painter, facts_area_, layout_.facts, *s_.colours);
}

void ExchangePainter::words(QPainter& painter) const {
  double y = s_.room.top() + 4;
  for (const Words& words : words_) {
    painter.setFont(words.heading ? bold_font() : interface_font());
    draw_text(painter, QRectF(s_.room.left() + view_margin, y, s_.room.width() - 2 * view_margin, words.height),
              wrapped, words.text, words.heading ? s_.colours->text : s_.colours->dim);
    y += words.height + 1;
  }
}

void ExchangePainter::members(QPainter& painter) const {
  const GroupExchange& e = *s_.exchange;
  const Holdings holdings = holdings_at(e, *s_.time, s_.at);
  QFont font = interface_font();
  font.setPixelSize(std::clamp(static_cast<int>(box_height_ * 0.34), s_.smallest, 13));
  const QFontMetricsF metrics(font);
  const auto chunks = static_cast<int>(e.chunk_bytes.size());
  for (int m = 0; m < e.size(); ++m) {
    const QPointF at = places_[static_cast<std::size_t>(m)];
    const QRectF box(at.x() - box_width_ / 2, at.y() - box_height_ / 2, box_width_, box_height_);
    painter.setPen(QPen(color(s_.colours->dim), 1));
    painter.setBrush(color(s_.colours->panel));
    painter.drawRoundedRect(box, 3, 3);
    if (!boxes_) continue;
    const QString number = QString::number(e.ranks[static_cast<std::size_t>(m)]);
    const QString name = tr("rank %1").arg(number);
    const bool cells = chunks > 0 && box.height() >= 24 && box.width() / chunks >= 3;
    const QRectF title = cells ? QRectF(box.left(), box.top(), box.width(), box.height() * 0.46) : box;
    painter.setFont(font);
    draw_text(painter, title, Qt::AlignCenter, metrics.horizontalAdvance(name) < box.width() - 4 ? name : number,
              s_.colours->text);
    if (!cells) continue;
    const QRectF strip(box.left() + 4, title.bottom(), box.width() - 8, box.bottom() - title.bottom() - 4);
    const double width = strip.width() / chunks;
    for (int c = 0; c < chunks; ++c) {
      if (e.chunk_bytes[static_cast<std::size_t>(c)] == 0) continue;  // fewer elements than ranks
      const QRectF cell(strip.left() + c * width, strip.top(), std::max(width - 1, 1.0), strip.height());
      painter.fillRect(cell, color(mixed(s_.colours->panel, s_.colours->text, 0.14F)));
      const double share = static_cast<double>(holdings.at(m, c)) / holdings.whole();
      const double height = std::round(cell.height() * share);
      painter.fillRect(QRectF(cell.left(), cell.bottom() - height, cell.width(), height), color(mark()));
    }
  }
}

void ExchangePainter::moves(QPainter& painter) const {
  const GroupExchange& e = *s_.exchange;
  // All pairs that exchange data, faintly; then the transfers at this moment.
  painter.setBrush(Qt::NoBrush);
  std::vector<std::pair<int, int>> drawn;
  for (const ExchangeMove& move : e.moves) {
    const std::pair<int, int> pair{std::min(move.from, move.to), std::max(move.from, move.to)};
    if (e.size() > most_boxes || contains(drawn, pair)) continue;
    drawn.push_back(pair);
    painter.setPen(QPen(color(s_.colours->line), 1.5));
    painter.drawLine(places_[static_cast<std::size_t>(move.from)], places_[static_cast<std::size_t>(move.to)]);
  }
  QFont font = bold_font();
  font.setPixelSize(std::max(11, s_.smallest));
  const QFontMetricsF metrics(font);
  const Argb fill = mark();
  for (const ExchangeMove& move : e.moves) {
    const double done = s_.time->done(move, s_.at);
    if (done <= 0 || done >= 1) continue;
    const QPointF from = places_[static_cast<std::size_t>(move.from)], to = places_[static_cast<std::size_t>(move.to)];
    const QPointF way = to - from;
    const double length = std::max(std::hypot(way.x(), way.y()), 1.0);
    // Slightly beside the line, so that two opposite transfers are both visible.
    const QPointF aside(-way.y() / length * 9, way.x() / length * 9);
    // Boxes hide the ends of the line: the transfer moves between them.
    const double hidden = std::min(0.4, 0.5 * std::min(box_width_ / std::max(std::fabs(way.x()), 1.0),
                                                       box_height_ / std::max(std::fabs(way.y()), 1.0)));
    const QPointF at = from + way * (hidden + (1 - 2 * hidden) * done) + aside;
    painter.setPen(QPen(color(fill), 2));
    painter.drawLine(from + aside, at);
    const QString words = !is_collective(e.kind)                    ? QString()
                          : move.last_chunk - move.first_chunk == 1 ? QString::number(move.first_chunk)
                          : move.last_chunk - move.first_chunk == static_cast<int>(e.chunk_bytes.size())
                              ? tr("all")
                              : QStringLiteral("%1–%2").arg(move.first_chunk).arg(move.last_chunk - 1);
    const double width = std::max(metrics.horizontalAdvance(words) + 8, 16.0);
    const QRectF token(at.x() - width / 2, at.y() - 9, width, 18);
    painter.setPen(QPen(color(s_.colours->ground), 1.5));
    painter.setBrush(color(fill));
    painter.drawRoundedRect(token, 4, 4);
    painter.setFont(font);
    draw_text(painter, token, Qt::AlignCenter, words, s_.colours->ink_on(fill));
  }
}

void ExchangePainter::inside(QPainter& painter, int rank, double top, double height,
                             const std::function<double(std::int64_t)>& x_of) const {
  std::vector<const PhaseSpan*> lines;
  for (const PhaseSpan& phase : s_.exchange->inside)
    if (phase.rank == rank) lines.push_back(&phase);
  const double step = height / static_cast<double>(std::max<std::size_t>(lines.size(), 1));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const double x = x_of(lines[i]->begin_ns);
    painter.fillRect(QRectF(x, top + static_cast<double>(i) * step, std::max(x_of(lines[i]->end_ns) - x, 1.0),
                            std::clamp(step - 1, 1.0, 3.0)),
                     color(lines[i]->phase == 0 ? s_.colours->text : s_.colours->accent));
  }
}

double ExchangePainter::TimesScale::x_of(std::int64_t time_ns) const {
  const double whole = std::max<double>(static_cast<double>(end_ns - begin_ns), 1);
  return left + std::clamp(static_cast<double>(time_ns - begin_ns) / whole, 0.0, 1.0) * width;
}

std::optional<ExchangePainter::TimesScale> ExchangePainter::times_scale(const QRectF& area) const {
  const GroupExchange& e = *s_.exchange;
  TimesScale scale;
  bool any = false;
  for (const auto& span : e.spans) {
    if (!span) continue;
    scale.begin_ns = any ? std::min(scale.begin_ns, span->begin_ns) : span->begin_ns;
    scale.end_ns = any ? std::max(scale.end_ns, span->end_ns) : span->end_ns;
    any = true;
  }
  if (!any) return std::nullopt;
  // Rows of an opaque exchange may be high, but the explanation under them needs its space.
  const double explained = e.opaque ? explained_height(area.width()) : 0;
  scale.row = std::clamp((area.height() - times_head - times_foot - explained) / std::max(e.size(), 1), 4.0,
                         double(e.opaque ? most_opaque_row : times_row));
  scale.named = scale.row >= 14;
  scale.left = area.left() + (scale.named ? rank_width : 0);
  scale.spans =
      std::max<double>(spans_width, 8 + std::ceil(QFontMetricsF(interface_font()).horizontalAdvance(spans_name())));
  scale.width = std::max(area.right() - (scale.named ? scale.spans : 0) - scale.left, 20.0);
  return scale;
}

void ExchangePainter::times(QPainter& painter, const QRectF& area) const {
  const std::optional<TimesScale> scale = times_scale(area);
  painter.setFont(interface_font());
  draw_text(painter, QRectF(area.left(), area.top(), area.width(), 18), at_left,
            scale ? tr("thin: waiting; full: moving bytes") : tr("times not recorded"), s_.colours->dim);
  double y = area.top() + times_head;
  if (scale) {
    for (int m = 0; m < s_.exchange->size() && y + scale->row <= area.bottom() - 18; ++m, y += scale->row)
      time_of(painter, m, QRectF(area.left(), y, area.width(), scale->row), *scale);
    times_axis(painter, QRectF(area.left(), y + 2, area.width(), 16), *scale);
    y += times_foot + 8;
  }
  if (!explained_.isEmpty()) return;
  const QRectF rest(area.left(), y, area.width(), area.bottom() - y);
  if (rest.height() < height_of(explanation(), false, rest.width()) - 1) return;
  draw_text(painter, rest, wrapped, explanation(), s_.colours->dim);
}

void ExchangePainter::time_of(QPainter& painter, int member, const QRectF& row, const TimesScale& scale) const {
  const GroupExchange& e = *s_.exchange;
  const auto& span = e.spans[static_cast<std::size_t>(member)];
  const int rank = e.ranks[static_cast<std::size_t>(member)];
  painter.setPen(color(s_.colours->text));
  if (scale.named)
    painter.drawText(QRectF(row.left(), row.top(), rank_width, row.height()), at_left, tr("rank %1").arg(rank));
  painter.setPen(color(s_.colours->dim));
  if (!span) {
    if (scale.named)
      painter.drawText(QRectF(scale.left, row.top(), scale.width, row.height()), at_left, tr("not recorded"));
    return;
  }
  const double x0 = scale.x_of(span->begin_ns), x1 = scale.x_of(span->active_ns), x2 = scale.x_of(span->end_ns);
  const double bar = e.inside.empty() ? row.height() - 4 : (row.height() - 4) / 2;
  painter.fillRect(QRectF(x0, row.top() + 1 + bar / 2, std::max(x1 - x0, 0.0), 2), color(mark()));
  painter.fillRect(QRectF(x1, row.top() + 2, std::max(x2 - x1, 1.0), bar), color(mark()));
  inside(painter, rank, row.top() + 2 + bar + 1, row.height() - 4 - bar - 1,
         [&scale](std::int64_t time_ns) { return scale.x_of(time_ns); });
  if (!scale.named) return;
  painter.setFont(number_font());
  painter.drawText(row.adjusted(row.width() - scale.spans + 8, 0, 0, 0), at_right,
                   text::nanoseconds(span->active_ns - span->begin_ns) + QStringLiteral(" + ") +
                       text::nanoseconds(span->end_ns - span->active_ns));
  painter.setFont(interface_font());
}

// The begin of the bars, and at their end the total duration.
void ExchangePainter::times_axis(QPainter& painter, const QRectF& line, const TimesScale& scale) const {
  painter.setPen(color(s_.colours->dim));
  const QString from = tr("0"), length = text::nanoseconds(scale.end_ns - scale.begin_ns);
  const QFontMetricsF metrics(interface_font());
  if (metrics.horizontalAdvance(from) + between + metrics.horizontalAdvance(length) <= scale.width)
    painter.drawText(QRectF(scale.left, line.top(), scale.width, line.height()), at_left, from);
  painter.drawText(QRectF(line.left(), line.top(), scale.left + scale.width - line.left(), line.height()), at_right,
                   length);
  if (scale.named) painter.drawText(line.adjusted(line.width() - scale.spans, 0, 0, 0), at_right, spans_name());
}

}  // namespace rankscope::app
