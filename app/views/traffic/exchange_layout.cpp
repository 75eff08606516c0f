// SPDX-License-Identifier: GPL-3.0-or-later
// Positions of the parts of an exchange's picture: its text, its members, their times, and further facts.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "app/models/span_details.hpp"
#include "app/views/common/text.hpp"
#include "app/views/traffic/exchange_painter.hpp"
#include "app/views/traffic/exchange_sizes.hpp"

namespace rankscope::app {
namespace {

using namespace exchange;
using text::tr;

constexpr int least_beside = 560, least_over_times = 240, least_for_words = 180;
constexpr int fact_line = 22, close_fact_line = 18;
constexpr int least_bars = 60, least_ring = 140, least_explained = 200;

/// A token has no spaces: it may break after its colons and dots.
QString breakable(OpId op) {
  const QChar break_here(0x200B);
  return QString::fromStdString(to_token(op))
      .replace(QLatin1String(":"), QStringLiteral(":") + break_here)
      .replace(QLatin1String("."), QStringLiteral(".") + break_here);
}

/// "4 channels, peers unknown", as the library reports it.
QString words_of_inside(const GroupExchange& e) {
  int channels = 0;
  double bytes = 0;
  bool moved = false;
  for (const PhaseSpan& phase : e.inside) {
    channels = std::max(channels, phase.chunk + 1);
    if (phase.phase == 0 || phase.from != phase.rank) continue;  // a transfer is reported at both ends
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
  // A low view shows the picture rather than the text.
  const bool low = s_.room.height() < least_for_words;
  const QString identity = facts.join(QStringLiteral(" · "));
  if (!low && !s_.named && !e.op.is_observed()) words_.push_back({identity, false, height_of(identity, false, width)});
  facts = s_.named || e.op.is_observed() ? QStringList{tr("step %1").arg(e.step)} : QStringList();
  facts << tr("%1 ranks").arg(e.size());
  if (e.bytes >= 0) facts << text::bytes(static_cast<double>(e.bytes));
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
        "Within a host the library does not report which chunk moves when, or to which rank.");
  if (e.opaque && e.op.is_observed()) return tr("Phases unknown: the trace has only when each rank was in the op.");
  if (e.opaque)
    return tr(
        "Phases unknown: the library's algorithm hides them. Set collective in the plan to one of Rankscope's, such "
        "as ring, to see them.");
  if (e.moves.empty() || !is_collective(e.kind)) return {};
  const QString chunk = text::bytes(static_cast<double>(*std::max_element(e.chunk_bytes.begin(), e.chunk_bytes.end())));
  return e.sums() ? tr("A cell is a chunk of the buffer (%1 here). It fills as the parts of more ranks are "
                       "summed in it; when full, it has all %2.")
                        .arg(chunk)
                        .arg(e.size())
                  : tr("A cell is a chunk of the buffer (%1 here). It is full if the rank has it.").arg(chunk);
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
  // Two members are drawn as a line, with their times under it. More are drawn as a ring or a tree, with their times
  // under it if the area is high enough, else beside it.
  double left_over = room.height() - between - times_height(room.width(), times_row);
  beside_ = n > 2 && room.width() >= least_beside && left_over < least_over_times;
  const double times_width = beside_ ? std::min(room.width() * 0.42, 420.0) : 0;
  double width = room.width() - (beside_ ? times_width + 2 * view_margin : 0);
  // If the explanation does not fit below, it is beside the ring.
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

// Takes the first of these layouts that shows everything uncut.
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
  // Else the times have priority, and the facts end with the number of those that do not fit.
  layout_ = {room.width() >= least_beside, times_row, {none, close_fact_line}};
  times_ = room;
  if (layout_.beside) {
    facts_area_ = room;
    facts_area_.setLeft(room.right() - std::min(room.width() * 0.46, 460.0));
    times_.setRight(facts_area_.left() - 2 * view_margin);
    return;
  }
  const double requested = times_height(room.width(), layout_.row) + between;
  if (room.height() < requested + 3 * fact_line) return;
  times_.setHeight(requested - between);
  facts_area_ = room.adjusted(0, requested, 0, 0);
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

}  // namespace rankscope::app
