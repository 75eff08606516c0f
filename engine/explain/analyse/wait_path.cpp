#include "engine/explain/analyse/wait_path.hpp"

#include <algorithm>
#include <limits>

namespace rankscope::analysis {
namespace {

/// Walks back from the end of an idle range to its begin, and emits pieces from the last to the first.
class Walk {
 public:
  Walk(const StepIndex& index, int rank, TimeRange idle)
      : index_(index), rank_(rank), idle_(idle), steps_left_(static_cast<std::ptrdiff_t>(index.spans().size()) + 8) {}

  void from_next(SpanAt next) {
    time_ = index_[next].begin_ns;
    own(next);
  }
  /// At the step's end the rank waited for the op that ended last; or, if the rank's exchange for its next step ended
  /// later, for that exchange.
  void from_last(SpanAt last) {
    time_ = idle_.end_ns;
    const SpanAt ahead = last_talk_ahead();
    if (ahead != none && (last == none || index_[ahead].end_ns >= index_[last].end_ns)) {
      emit(index_[ahead].end_ns, PieceKind::own_overhead);
      own(own_op(ahead));
      return;
    }
    if (last == none) return emit(idle_.begin_ns, PieceKind::own_unknown);
    SpanAt own_last = last;
    if (index_[last].rank != rank_) {
      own_last = last_talk();
      if (own_last != none) floor_ = index_[own_last].end_ns;
      emit(std::max(index_[last].end_ns, floor_), PieceKind::own_overhead);
      peers(last, true);
      if (own_last == none) return;
      emit(floor_, PieceKind::peer_unknown);
      floor_ = std::numeric_limits<std::int64_t>::min();
    } else {
      emit(index_[last].end_ns, PieceKind::own_overhead);
    }
    if (done()) return;
    if (const SpanAt held = own_op(own_last); held != none) own(held);
  }
  std::vector<Piece> finish() {
    emit(idle_.begin_ns, PieceKind::own_unknown);
    std::reverse(pieces_.begin(), pieces_.end());
    return std::move(pieces_);
  }

 private:
  bool done() const { return time_ <= idle_.begin_ns; }

  /// Assigns [until, time_) to this kind and moves time_ back to `until`. Parts outside the range are omitted.
  void emit(std::int64_t until, PieceKind kind, SpanAt span = none) {
    until = std::max(until, idle_.begin_ns);
    if (until >= time_) return;
    const std::int64_t begin = until, end = std::min(time_, idle_.end_ns);
    time_ = until;
    if (begin >= end) return;
    Piece piece{begin, end, kind, Purpose::none, -1, OpId{}};
    if (span != none) {
      piece.rank = index_[span].rank;
      piece.op = index_[span].op;
      piece.purpose = piece.op.fields().purpose;
    }
    pieces_.push_back(piece);
  }

  /// The rank's last communication of the step to end, if it ends within the range.
  SpanAt last_talk() const {
    SpanAt latest = none;
    for (const SpanAt at : index_.beside(rank_)) {
      const Span& span = index_[at];
      if (span.step != index_.step() || !is_communication(span.op.kind())) continue;
      if (span.end_ns <= idle_.begin_ns || span.end_ns > idle_.end_ns) continue;
      if (latest == none || span.end_ns > index_[latest].end_ns) latest = at;
    }
    return latest;
  }

  /// The rank's last communication of a later step whose bytes began to move within the range: its next forward
  /// waits for it, such as for parameters from a main device. That forward itself begins where the step ends, and may
  /// be missing among the spans.
  SpanAt last_talk_ahead() const {
    SpanAt latest = none;
    for (const SpanAt at : index_.beside(rank_)) {
      const Span& span = index_[at];
      if (span.step <= index_.step() || !is_communication(span.op.kind())) continue;
      if (span.end_ns <= idle_.begin_ns || index_.active_ns(at) >= idle_.end_ns) continue;
      if (latest == none || span.end_ns > index_[latest].end_ns) latest = at;
    }
    return latest;
  }

  /// The rank's own chain, from an op that began at time_.
  void own(SpanAt held) {
    while (!done() && held != none && steps_left_-- > 0) {
      const Holder holder = index_.holder_of(held);
      const std::int64_t released = holder.span == none ? idle_.begin_ns : index_[holder.span].end_ns;
      emit(released, holder.missing ? PieceKind::own_unknown : PieceKind::own_overhead, held);
      if (done() || holder.span == none) return;
      held = own_op(holder.span);
    }
  }

  /// One op of the rank itself, which ended at or after time_. Returns where to continue; none if the chain left the
  /// rank.
  SpanAt own_op(SpanAt at) {
    const Span& span = index_[at];
    if (!is_communication(span.op.kind())) {
      // A batch was loaded; or the costs of offloading: copies, and the host's updates.
      const bool offload = span.op.fields().purpose == Purpose::offload;
      emit(span.begin_ns, offload ? PieceKind::own_transfer : PieceKind::own_overhead, at);
      return at;
    }
    const SpanAt peer = index_.last_to_arrive(at);
    emit(index_.active_ns(at), PieceKind::own_transfer, peer == none ? at : peer);
    if (done() || time_ <= span.begin_ns) return at;
    // Until its last member arrived, the rank waited. Before the op began, the search continues on this rank.
    const std::int64_t began = std::max(span.begin_ns, idle_.begin_ns);
    if (peer == none) {
      emit(began, PieceKind::peer_unknown, at);
      return at;
    }
    const std::int64_t floor = floor_;
    floor_ = began;
    peers(peer, false);
    emit(began, PieceKind::peer_unknown, peer);
    floor_ = floor;
    return at;
  }

  /// The chain on other ranks, down to floor_: `at` began (or, if `ran`, ended) at time_.
  void peers(SpanAt at, bool ran) {
    const auto stop = [&] { return time_ <= std::max(floor_, idle_.begin_ns); };
    const auto give = [&](std::int64_t until, PieceKind kind, SpanAt span) {
      emit(std::max(until, floor_), kind, span);
    };
    while (!stop() && steps_left_-- > 0) {
      if (!ran) {
        const Holder holder = index_.holder_of(at);
        const std::int64_t released = holder.span == none ? floor_ : index_[holder.span].end_ns;
        give(released, holder.missing ? PieceKind::peer_unknown : PieceKind::peer_overhead, at);
        if (stop() || holder.span == none) return;
        at = holder.span;
      }
      ran = false;
      const Span& span = index_[at];
      if (is_compute(span.op.lane()) || is_on_host(span.op.lane())) {
        give(span.begin_ns, PieceKind::peer_compute, at);
      } else if (span.op.kind() == OpKind::copy) {
        give(span.begin_ns, PieceKind::peer_transfer, at);
      } else if (is_communication(span.op.kind())) {
        give(index_.active_ns(at), index_.takes_part(rank_, at) ? PieceKind::own_transfer : PieceKind::peer_transfer,
             at);
        if (stop() || time_ <= span.begin_ns) continue;
        const SpanAt other = index_.last_to_arrive(at);
        if (other == none)
          give(span.begin_ns, PieceKind::peer_unknown, at);
        else
          at = other;
      } else {
        give(span.begin_ns, PieceKind::peer_overhead, at);
      }
    }
  }

  const StepIndex& index_;
  int rank_;
  TimeRange idle_;
  std::ptrdiff_t
      steps_left_;  ///< contradictory time stamps could lead to cycles; below 0 after several loops have ended
  std::int64_t time_ = 0;
  std::int64_t floor_ = std::numeric_limits<std::int64_t>::min();  ///< lower limit of the current wait
  std::vector<Piece> pieces_;
};

}  // namespace

std::vector<Piece> explain_idle(const StepIndex& index, int rank, TimeRange idle, SpanAt next, SpanAt last) {
  Walk walk(index, rank, idle);
  if (next != none)
    walk.from_next(next);
  else
    walk.from_last(last);
  return walk.finish();
}

}  // namespace rankscope::analysis
