// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/traffic/exchange_scene.hpp"

#include <QObject>
#include <algorithm>
#include <cmath>

namespace rankscope::app {
namespace {

constexpr double pi = 3.14159265358979323846;

// The depth of a member in a binomial tree; members are counted from the root.
int depth_of(int member) {
  int depth = 0;
  for (; member > 0; member &= member - 1) ++depth;
  return depth;
}

std::vector<QPointF> on_ring(int first, int count, const QRectF& area) {
  std::vector<QPointF> places;
  const double rx = area.width() / 2, ry = area.height() / 2;
  for (int i = 0; i < count; ++i) {
    const double angle = 2 * pi * (first + i) / count - pi / 2;
    places.emplace_back(area.center().x() + rx * std::cos(angle), area.center().y() + ry * std::sin(angle));
  }
  return places;
}

std::vector<QPointF> on_tree(const GroupExchange& exchange, const QRectF& area) {
  const int n = exchange.size();
  int deepest = 0;
  std::vector<int> width(static_cast<std::size_t>(n) + 1, 0);
  for (int i = 0; i < n; ++i) {
    deepest = std::max(deepest, depth_of(i));
    ++width[static_cast<std::size_t>(depth_of(i))];
  }
  std::vector<QPointF> places(static_cast<std::size_t>(n));
  std::vector<int> taken(width.size(), 0);
  for (int i = 0; i < n; ++i) {
    const auto depth = static_cast<std::size_t>(depth_of(i));
    const double x = area.left() + area.width() * (taken[depth]++ + 0.5) / width[depth];
    const double y = area.top() + (deepest == 0 ? 0 : area.height() * static_cast<double>(depth) / deepest);
    places[static_cast<std::size_t>((i + exchange.root) % n)] = {x, y};
  }
  return places;
}

QString message_words() { return QObject::tr("the sender's bytes move to the receiver"); }
QString part_words() { return QObject::tr("ranks send parts to others, which store them"); }
QString into_own() { return QObject::tr(", and the receiver adds it to its own"); }
QString into_some() { return QObject::tr("; some are added to the receiver's data"); }
QString kept() { return QObject::tr(", and the receiver stores it"); }

}  // namespace

ExchangeTime::ExchangeTime(const GroupExchange& exchange, PlayClock clock)
    : clock_(exchange.timed ? clock : PlayClock::phases) {
  const auto phases = static_cast<std::size_t>(std::max(exchange.phases, 0));
  if (clock_ == PlayClock::phases) {
    length_ = static_cast<double>(phases);
    for (std::size_t p = 0; p < phases; ++p) begins_.push_back(static_cast<double>(p));
    return;
  }
  std::int64_t end_ns = 0;
  bool first = true;
  for (const ExchangeMove& move : exchange.moves) {
    origin_ns_ = first ? move.begin_ns : std::min(origin_ns_, move.begin_ns);
    end_ns = first ? move.end_ns : std::max(end_ns, move.end_ns);
    first = false;
  }
  length_ = static_cast<double>(end_ns - origin_ns_);
  begins_.assign(phases, length_);
  for (const ExchangeMove& move : exchange.moves) {
    double& begin = begins_[static_cast<std::size_t>(move.phase)];
    begin = std::min(begin, static_cast<double>(move.begin_ns - origin_ns_));
  }
}

double ExchangeTime::done(const ExchangeMove& move, double at) const {
  if (clock_ == PlayClock::phases) return std::clamp(at - move.phase, 0.0, 1.0);
  const auto begin = static_cast<double>(move.begin_ns - origin_ns_),
             end = static_cast<double>(move.end_ns - origin_ns_);
  if (at >= end) return 1;
  return at <= begin ? 0 : (at - begin) / (end - begin);
}

int ExchangeTime::phase_at(double at) const {
  int phase = 0;
  for (std::size_t p = 0; p < begins_.size(); ++p)
    if (begins_[p] <= at) phase = static_cast<int>(p);
  return phase;
}

double ExchangeTime::next(double at) const {
  double next = length_;
  const double beyond = at + length_ * 1e-9;
  for (const double begin : begins_)
    if (begin > beyond) next = std::min(next, begin);
  return next;
}

double ExchangeTime::previous(double at) const {
  double previous = 0;
  const double before = at - length_ * 1e-9;
  for (const double begin : begins_)
    if (begin < before) previous = std::max(previous, begin);
  return previous;
}

Holdings holdings_at(const GroupExchange& exchange, const ExchangeTime& time, double at) {
  Holdings holdings(exchange);
  for (const ExchangeMove& move : exchange.moves)
    if (time.done(move, at) >= 1) holdings.apply(move);
  return holdings;
}

std::vector<QPointF> member_places(const GroupExchange& exchange, const QRectF& area) {
  const int n = exchange.size();
  if (n == 0) return {};
  if (n == 2) return {{area.left(), area.center().y()}, {area.right(), area.center().y()}};
  if (exchange.algorithm == Algorithm::tree) return on_tree(exchange, area);
  if (exchange.algorithm != Algorithm::naive) return on_ring(0, n, area);
  std::vector<QPointF> around = on_ring(0, n - 1, area);
  around.insert(around.begin() + exchange.root, area.center());
  return around;
}

QString phase_words(const GroupExchange& exchange, int phase) {
  bool adds = false, copies = false;
  int moves = 0;
  for (const ExchangeMove& move : exchange.moves) {
    if (move.phase != phase) continue;
    ++moves;
    adds = adds || move.add;
    copies = copies || !move.add;
  }
  if (moves == 0) return QObject::tr("nothing moves in this phase");
  if (!is_collective(exchange.kind)) return message_words();
  if (exchange.kind == OpKind::all_to_all) return part_words();
  const QString who =
      moves == exchange.size() ? QObject::tr("every rank passes a chunk on") : QObject::tr("some ranks pass chunks on");
  return who + (adds && !copies ? into_own() : adds ? into_some() : kept());
}

QString longest_phase_words(const GroupExchange& exchange) {
  if (!is_collective(exchange.kind)) return message_words();
  if (exchange.kind == OpKind::all_to_all) return part_words();
  QString longest = kept();
  for (const QString& end : {into_own(), into_some()})
    if (end.size() > longest.size()) longest = end;
  return QObject::tr("every rank passes a chunk on") + longest;
}

}  // namespace rankscope::app
