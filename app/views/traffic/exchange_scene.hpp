// SPDX-License-Identifier: GPL-3.0-or-later
// The animation of a collective as arithmetic: the active moves at a moment, and the positions of its members.
#pragma once
#include <QPointF>
#include <QRectF>
#include <QString>
#include <vector>

#include "engine/explain/analyse/exchange.hpp"

namespace rankscope::app {

enum class PlayClock : std::uint8_t {
  phases,    ///< all phases have the same length
  recorded,  ///< as recorded, slowed down
};

/// The time in which a collective is played. Moments are in [0, length()]: phases, or nanoseconds since the first move
/// began.
class ExchangeTime {
 public:
  ExchangeTime() = default;
  /// Recorded time only if the exchange is timed; else by phases.
  ExchangeTime(const GroupExchange& exchange, PlayClock clock);
  PlayClock clock() const { return clock_; }
  double length() const { return length_; }
  /// How much of a move is done at that moment: 0 not begun, 1 arrived.
  double done(const ExchangeMove& move, double at) const;
  /// The current phase: the last whose first move has begun; the last one at the end.
  int phase_at(double at) const;
  /// Where the next (previous) phase begins, or the collective ends.
  double next(double at) const;
  double previous(double at) const;

 private:
  PlayClock clock_ = PlayClock::phases;
  double length_ = 0;
  std::int64_t origin_ns_ = 0;
  std::vector<double> begins_;  ///< of each phase
};

/// The content of each member's chunks at that moment.
Holdings holdings_at(const GroupExchange& exchange, const ExchangeTime& time, double at);

/// Middles of the members' boxes within `area`: a tree's from its root down, all others on a ring, clockwise from the
/// top. A naive algorithm's root is in the middle of the ring.
std::vector<QPointF> member_places(const GroupExchange& exchange, const QRectF& area);

/// "phase 2 of 6: each rank passes a chunk on and adds what it gets"
QString phase_words(const GroupExchange& exchange, int phase);
/// The longest text of any phase: this space is reserved, so that nothing moves from phase to phase.
QString longest_phase_words(const GroupExchange& exchange);

}  // namespace rankscope::app
