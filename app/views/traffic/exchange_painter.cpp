// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/traffic/exchange_painter.hpp"

#include <QObject>
#include <algorithm>
#include <cmath>
#include <tuple>

#include "app/models/span_details.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr int between = 14, least_beside = 560, least_over_times = 240, least_for_words = 180;
constexpr int most_boxes = 64;  // above, members have no boxes that could be read
constexpr int times_head = 24, times_row = 26, times_foot = 20;
constexpr int most_opaque_row = 44;  // of times that have the room to themselves
constexpr int fact_line = 22, close_fact_line = 18;
constexpr int rank_width = 54, spans_width = 132;  // before and behind the bars
constexpr int least_bars = 60, least_ring = 140, least_explained = 200;

using text::tr;

QFont heading_font() {
  QFont bold = interface_font();
  bold.setWeight(QFont::DemiBold);
  return bold;
}

constexpr int wrapped = Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap;

/// A token has no spaces: it may break behind its colons and dots.
QString breakable(OpId op) {
  const QChar break_here(0x200B);
  return QString::fromStdString(to_token(op))
      .replace(QLatin1String(":"), QStringLiteral(":") + break_here)
      .replace(QLatin1String("."), QStringLiteral(".") + break_here);
}

double height_of(const QString& text, bool heading, double width) {
  const QFontMetricsF metrics(heading ? heading_font() : interface_font());
  return std::ceil(metrics.boundingRect(QRectF(0, 0, width, 1e5), wrapped, text).height());
}

/// "4 channels, no transfers told", as the library has it.
QString words_of_inside(const GroupExchange& e) {
  int channels = 0;
  double bytes = 0;
  bool moved = false;
  for (const PhaseSpan& phase : e.inside) {
    channels = std::max(channels, phase.chunk + 1);
    if (phase.phase == 0 || phase.from != phase.rank) continue;  // a transfer is told at both ends
    moved = true;
    bytes += static_cast<double>(std::max<std::int64_t>(phase.bytes, 0));
  }
  return moved ? tr("%1 channels, %2 over the network").arg(channels).arg(text::bytes(bytes))
               : tr("%1 channels, peers unknown").arg(channels);
}

}  // namespace

ExchangePainter::ExchangePainter(const ExchangeScene& scene) : s_(scene) {
  write();
  place();
}

void ExchangePainter::write() {
  const GroupExchange& e = *s_.exchange;
  const double width = s_.room.width() - 2 * view_margin;
  QString title = QString::fromStdString(phrase_of(e.op));
  if (e.serves) title = *e.serves ? tr("send of parameters from a server") : tr("send of gradients to a server");
  title[0] = title[0].toUpper();
  words_.push_back({title, true, height_of(title, true, width)});
  QStringList facts;
  facts << breakable(e.op) << tr("step %1").arg(e.step);
  // In a low view the picture goes before the words.
  const bool low = s_.room.height() < least_for_words;
  const QString identity = facts.join(QStringLiteral(" · "));
  if (!low && !s_.named) words_.push_back({identity, false, height_of(identity, false, width)});
  facts = s_.named ? QStringList{tr("step %1").arg(e.step)} : QStringList();
  facts << tr("%1 ranks").arg(e.size()) << text::bytes(static_cast<double>(e.bytes));
  if (e.algorithm) facts << text::utf8(name_of(*e.algorithm));
  if (e.opaque && e.inside.empty()) facts << tr("phases unknown");
  if (!e.inside.empty()) facts << words_of_inside(e);
  if (!e.opaque && e.phases > 0) facts << (e.timed ? tr("recorded") : tr("not timed"));
  const QString what = facts.join(QStringLiteral(" · "));
  if (!low || e.opaque) words_.push_back({what, false, height_of(what, false, width)});
  if (!e.opaque && e.phases > 0) {
    const auto line = [&](int phase, const QString& happens, std::int64_t at_ns) {
      QString words = tr("phase %1 of %2: %3").arg(phase).arg(e.phases).arg(happens);
      if (s_.time->clock() == PlayClock::recorded) words += QStringLiteral(" · ") + text::nanoseconds(at_ns);
      return words;
    };
    const int phase = s_.time->phase_at(s_.at);
    words_.push_back({line(phase + 1, phase_words(e, phase), std::llround(s_.at)), false,
                      height_of(line(e.phases, longest_phase_words(e), 888'000'000), false, width)});
  }
  head_ = 4;
  for (const Words& words : words_) head_ += words.height + 1;
}

QString ExchangePainter::explanation() const {
  const GroupExchange& e = *s_.exchange;
  if (e.opaque && !e.inside.empty())
    return tr(
        "A thin line under a rank's bar is a channel of the library's kernel, or a transfer of it over the network. "
        "Within a host the library does not tell which chunk moves when, nor to whom.");
  if (e.opaque)
    return tr(
        "Which chunk moves when is not known: the communicator's own algorithm does not tell. Set "
        "collective in the plan to one of Rankscope's, such as ring, to see its phases.");
  if (e.moves.empty() || !is_collective(e.kind)) return {};
  const QString chunk = text::bytes(static_cast<double>(*std::max_element(e.chunk_bytes.begin(), e.chunk_bytes.end())));
  return e.sums() ? tr("A cell is a chunk of the buffer (%1 here). It fills with the ranks whose parts are "
                       "summed in it; full, it holds all %2.")
                        .arg(chunk)
                        .arg(e.size())
                  : tr("A cell is a chunk of the buffer (%1 here). It is full where the rank has it.").arg(chunk);
}

double ExchangePainter::explained_height(double width) const {
  const QString words = explained_.isEmpty() ? explanation() : QString();
  return words.isEmpty() ? 0 : 8 + height_of(words, false, width);
}

double ExchangePainter::times_height(double width, int row) const {
  return times_head + row * std::min(s_.exchange->size(), 16) + times_foot + explained_height(width);
}

void ExchangePainter::place() {
  const GroupExchange& e = *s_.exchange;
  QRectF room = s_.room.adjusted(view_margin, head_ + 6, -view_margin, -8);
  const int n = e.size();
  boxes_ = n <= most_boxes && !e.opaque;
  if (e.opaque) return place_opaque(room);
  // Two members are a line, with their times under it; more are a ring or a tree, over its times where the room is high
  // enough, else beside them.
  double left_over = room.height() - between - times_height(room.width(), times_row);
  beside_ = n > 2 && room.width() >= least_beside && left_over < least_over_times;
  const double times_width = beside_ ? std::min(room.width() * 0.42, 420.0) : 0;
  double width = room.width() - (beside_ ? times_width + 2 * view_margin : 0);
  // What would be pushed out below stands beside the ring.
  if (n > 2 && !beside_ && left_over < least_ring && width >= 2 * least_explained && !explanation().isEmpty()) {
    const double explained = std::max<double>(least_explained, width * 0.42);
    width -= explained + view_margin;
    explained_ = QRectF(room.right() - explained, room.top(), explained, height_of(explanation(), false, explained));
    left_over = room.height() - between - times_height(room.width(), times_row);
  }
  diagram_ = n == 2 ? 76 : std::clamp(width * 0.62, 140.0, 420.0);
  if (n > 2 && !beside_) diagram_ = std::clamp(left_over, std::min<double>(least_ring, diagram_), diagram_);
  QRectF members(room.left(), room.top(), n == 2 ? std::min(width, 520.0) : width, std::min(diagram_, room.height()));
  if (beside_) {
    times_ = QRectF(room.right() - times_width, room.top(), times_width, room.height());
  } else {
    const QRectF under = room.adjusted(0, members.height() + between, 0, 0);
    if (under.height() >= times_head + 14 * std::min(n, 16) + times_foot) times_ = under;
  }
  const double across = std::max(1.0, std::min(members.width(), members.height() * 1.6));
  const double share = n <= 4 ? 0.26 : n <= 8 ? 0.2 : n <= 16 ? 0.13 : 0.08;
  box_width_ = boxes_ ? n == 2 ? 116.0 : std::clamp(across * share, 14.0, 116.0) : 6;
  box_height_ =
      boxes_
          ? std::clamp(n == 2 ? members.height() - 8 : std::min(box_width_ * 0.62, members.height() * 0.24), 12.0, 60.0)
          : 6;
  ring_ = members.adjusted(box_width_ / 2, box_height_ / 2, -box_width_ / 2, -box_height_ / 2);
  if (n > 2 && e.algorithm != Algorithm::tree) {
    const double most = ring_.height() * 1.9;
    if (ring_.width() > most) ring_.adjust((ring_.width() - most) / 2, 0, -(ring_.width() - most) / 2, 0);
  }
  places_ = member_places(e, ring_);
}

std::optional<std::pair<QRectF, QRectF>> ExchangePainter::areas_of(const OpaqueLayout& layout,
                                                                   const QRectF& room) const {
  const double wide = facts_.width(layout.facts);
  QRectF times = room, facts = room;
  if (layout.beside) {
    facts.setLeft(room.right() - wide);
    times.setRight(facts.left() - 2 * view_margin);
    if (times.width() < rank_width + least_bars + spans_width) return std::nullopt;
    if (times_height(times.width(), layout.row) > room.height() + 0.5) return std::nullopt;
  } else {
    if (wide > room.width()) return std::nullopt;
    times.setHeight(times_height(room.width(), layout.row));
    facts.setTop(times.bottom() + between);
  }
  if (facts_.height(layout.facts, facts.width()) > facts.height() + 0.5) return std::nullopt;
  return std::pair{times, facts};
}

// The first of these in which all is said and nothing is cut.
void ExchangePainter::place_opaque(const QRectF& room) {
  facts_ = FactsTable(facts_of(*s_.exchange));
  using enum FactsForm::Why;
  static constexpr OpaqueLayout layouts[] = {
      {false, most_opaque_row, {behind, fact_line}},    {false, times_row, {behind, fact_line}},
      {true, times_row, {behind, fact_line}},           {false, times_row, {behind, close_fact_line}},
      {true, times_row, {beneath, fact_line}},          {true, times_row, {beneath, close_fact_line}},
      {false, times_row, {beneath, close_fact_line}},   {true, times_row, {beneath, close_fact_line, 1}},
      {false, times_row, {behind, close_fact_line, 1}}, {true, times_row, {none, fact_line}},
      {false, times_row, {none, close_fact_line}},
  };
  for (const OpaqueLayout& layout : layouts)
    if (const auto areas = areas_of(layout, room)) {
      layout_ = layout;
      std::tie(times_, facts_area_) = *areas;
      return;
    }
  // The times first; the facts say how many of them there is no room for.
  layout_ = {room.width() >= least_beside, times_row, {none, close_fact_line}};
  times_ = room;
  if (layout_.beside) {
    facts_area_ = room;
    facts_area_.setLeft(room.right() - std::min(room.width() * 0.46, 460.0));
    times_.setRight(facts_area_.left() - 2 * view_margin);
    return;
  }
  const double wanted = times_height(room.width(), layout_.row) + between;
  if (room.height() < wanted + 3 * fact_line) return;
  times_.setHeight(wanted - between);
  facts_area_ = room.adjusted(0, wanted, 0, 0);
}

double ExchangePainter::height() const {
  const double width = s_.room.width() - 2 * view_margin;
  if (s_.exchange->opaque) {
    const double times = times_height(times_.width(), layout_.row);
    const double facts = facts_.height(layout_.facts, layout_.beside ? facts_area_.width() : width);
    return head_ + 6 + (layout_.beside ? std::max(times, facts) : times + between + facts) + 8;
  }
  const double body = beside_ ? std::max(diagram_, times_height(times_.width(), times_row))
                              : diagram_ + between + times_height(width, times_row);
  return head_ + 6 + body + 8;
}

QRectF ExchangePainter::member_box(int member) const {
  if (static_cast<std::size_t>(member) >= places_.size()) return {};
  const QPointF at = places_[static_cast<std::size_t>(member)];
  return {at.x() - box_width_ / 2, at.y() - box_height_ / 2, box_width_, box_height_};
}

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
    painter.setPen(color(s_.colours->dim));
    painter.drawText(explained_, wrapped, explanation());
  }
  if (facts_area_.height() > 0) facts_.paint(painter, facts_area_, layout_.facts, *s_.colours);
}

void ExchangePainter::words(QPainter& painter) const {
  double y = s_.room.top() + 4;
  for (const Words& words : words_) {
    painter.setFont(words.heading ? heading_font() : interface_font());
    painter.setPen(color(words.heading ? s_.colours->text : s_.colours->dim));
    painter.drawText(QRectF(s_.room.left() + view_margin, y, s_.room.width() - 2 * view_margin, words.height), wrapped,
                     words.text);
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
    painter.setPen(color(s_.colours->text));
    painter.drawText(title, Qt::AlignCenter, metrics.horizontalAdvance(name) < box.width() - 4 ? name : number);
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
  // Who ever sends to whom, faintly; then what is under way.
  painter.setBrush(Qt::NoBrush);
  std::vector<std::pair<int, int>> drawn;
  for (const ExchangeMove& move : e.moves) {
    const std::pair<int, int> pair{std::min(move.from, move.to), std::max(move.from, move.to)};
    if (e.size() > most_boxes || std::find(drawn.begin(), drawn.end(), pair) != drawn.end()) continue;
    drawn.push_back(pair);
    painter.setPen(QPen(color(s_.colours->line), 1.5));
    painter.drawLine(places_[static_cast<std::size_t>(move.from)], places_[static_cast<std::size_t>(move.to)]);
  }
  QFont font = interface_font();
  font.setPixelSize(std::max(11, s_.smallest));
  font.setWeight(QFont::DemiBold);
  const QFontMetricsF metrics(font);
  const Argb fill = mark();
  for (const ExchangeMove& move : e.moves) {
    const double done = s_.time->done(move, s_.at);
    if (done <= 0 || done >= 1) continue;
    const QPointF from = places_[static_cast<std::size_t>(move.from)], to = places_[static_cast<std::size_t>(move.to)];
    const QPointF way = to - from;
    const double length = std::max(std::hypot(way.x(), way.y()), 1.0);
    // A little aside of the line, so that two that pass each other are both seen.
    const QPointF aside(-way.y() / length * 9, way.x() / length * 9);
    // Boxes hide the line's ends: what moves is seen between them.
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
    painter.setPen(color(s_.colours->ink_on(fill)));
    painter.drawText(token, Qt::AlignCenter, words);
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

void ExchangePainter::times(QPainter& painter, const QRectF& area) const {
  const GroupExchange& e = *s_.exchange;
  std::int64_t begin = 0, end = 0;
  bool any = false;
  for (const auto& span : e.spans) {
    if (!span) continue;
    begin = any ? std::min(begin, span->begin_ns) : span->begin_ns;
    end = any ? std::max(end, span->end_ns) : span->end_ns;
    any = true;
  }
  // Of an opaque one rows may be high, but for what has to be said under them.
  const double said = e.opaque ? explained_height(area.width()) : 0;
  const double row = std::clamp((area.height() - times_head - times_foot - said) / std::max(e.size(), 1), 4.0,
                                double(e.opaque ? most_opaque_row : times_row));
  const bool named = row >= 14;
  painter.setFont(interface_font());
  painter.setPen(color(s_.colours->dim));
  painter.drawText(QRectF(area.left(), area.top(), area.width(), 18), Qt::AlignLeft | Qt::AlignVCenter,
                   any ? tr("thin: waiting; full: moving bytes") : tr("times not recorded"));
  const auto explain = [&](double y) {
    if (!explained_.isEmpty()) return;
    const QRectF rest(area.left(), y, area.width(), area.bottom() - y);
    if (rest.height() >= height_of(explanation(), false, rest.width()) - 1)
      painter.drawText(rest, wrapped, explanation());
  };
  if (!any) return explain(area.top() + times_head);
  const double name_width = named ? rank_width : 0, number_width = named ? spans_width : 0;
  const double left = area.left() + name_width, width = std::max(area.width() - name_width - number_width, 20.0);
  const double scale = width / std::max<double>(static_cast<double>(end - begin), 1);
  double y = area.top() + times_head;
  for (int m = 0; m < e.size() && y + row <= area.bottom() - 18; ++m, y += row) {
    const auto& span = e.spans[static_cast<std::size_t>(m)];
    painter.setPen(color(s_.colours->text));
    if (named)
      painter.drawText(QRectF(area.left(), y, name_width, row), Qt::AlignLeft | Qt::AlignVCenter,
                       tr("rank %1").arg(e.ranks[static_cast<std::size_t>(m)]));
    if (!span) {
      painter.setPen(color(s_.colours->dim));
      if (named) painter.drawText(QRectF(left, y, width, row), Qt::AlignLeft | Qt::AlignVCenter, tr("not recorded"));
      continue;
    }
    const double x0 = left + static_cast<double>(span->begin_ns - begin) * scale;
    const double x1 = left + static_cast<double>(span->active_ns - begin) * scale;
    const double x2 = left + static_cast<double>(span->end_ns - begin) * scale;
    const double bar = e.inside.empty() ? row - 4 : (row - 4) / 2;
    painter.fillRect(QRectF(x0, y + 1 + bar / 2, std::max(x1 - x0, 0.0), 2), color(mark()));
    painter.fillRect(QRectF(x1, y + 2, std::max(x2 - x1, 1.0), bar), color(mark()));
    const auto x_of = [&](std::int64_t time_ns) {
      return std::clamp(left + static_cast<double>(time_ns - begin) * scale, left, left + width);
    };
    inside(painter, e.ranks[static_cast<std::size_t>(m)], y + 2 + bar + 1, row - 4 - bar - 1, x_of);
    if (!named) continue;
    painter.setFont(number_font());
    painter.setPen(color(s_.colours->dim));
    painter.drawText(QRectF(area.right() - number_width + 8, y, number_width - 8, row),
                     Qt::AlignRight | Qt::AlignVCenter,
                     text::nanoseconds(span->active_ns - span->begin_ns) + QStringLiteral(" + ") +
                         text::nanoseconds(span->end_ns - span->active_ns));
    painter.setFont(interface_font());
  }
  painter.setPen(color(s_.colours->dim));
  // An axis: where the bars begin, and at their end how long the whole is.
  const QString from = tr("0"), length = text::nanoseconds(end - begin);
  const QFontMetricsF metrics(interface_font());
  if (metrics.horizontalAdvance(from) + between + metrics.horizontalAdvance(length) <= width)
    painter.drawText(QRectF(left, y + 2, width, 16), Qt::AlignLeft | Qt::AlignVCenter, from);
  painter.drawText(QRectF(area.left(), y + 2, left + width - area.left(), 16), Qt::AlignRight | Qt::AlignVCenter,
                   length);
  if (named)
    painter.drawText(QRectF(area.right() - number_width, y + 2, number_width, 16), Qt::AlignRight | Qt::AlignVCenter,
                     tr("waiting + moving"));
  explain(y + times_foot + 8);
}

}  // namespace rankscope::app
