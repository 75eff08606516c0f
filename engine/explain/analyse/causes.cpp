#include "engine/explain/analyse/causes.hpp"

#include <algorithm>
#include <cmath>

namespace rankscope::analysis {
namespace {

/// Whether this is a wait for others' compute, so that its cause is a phase which may be refined.
bool is_phase(BubbleCause cause) { return cause <= BubbleCause::schedule; }

BubbleStretch stretch_of(const Piece& piece, int rank, OpId next, const RankPhases& phases) {
  BubbleStretch stretch;
  stretch.rank = rank;
  stretch.begin_ns = piece.begin_ns;
  stretch.end_ns = piece.end_ns;
  stretch.waits_for_rank = piece.rank;
  stretch.waits_for_op = piece.op;
  stretch.next = next;
  switch (piece.kind) {
    case PieceKind::own_transfer:
      stretch.cause = BubbleCause::exposed_communication;
      stretch.purpose = piece.purpose;
      stretch.time = time_class_of(piece.purpose);
      break;
    case PieceKind::peer_transfer:
      stretch.cause = BubbleCause::exposed_communication;
      stretch.purpose = piece.purpose;
      break;
    case PieceKind::peer_compute: stretch.cause = phases.of_idle(piece.begin_ns, piece.end_ns); break;
    case PieceKind::peer_overhead: stretch.cause = BubbleCause::overhead; break;
    case PieceKind::peer_unknown: stretch.cause = BubbleCause::unknown; break;
    case PieceKind::own_overhead:
    case PieceKind::own_unknown:
      stretch.cause = piece.kind == PieceKind::own_overhead ? BubbleCause::overhead : BubbleCause::unknown;
      stretch.time = TimeClass::other;
      stretch.waits_for_rank = -1;
      stretch.waits_for_op = OpId{};
      break;
  }
  return stretch;
}

/// A parameter server has no model to compute: its idle time while workers compute is not bubble.
BubbleStretch of_server(BubbleStretch stretch) {
  if (stretch.time != TimeClass::bubble) return stretch;
  stretch.time = TimeClass::other;
  if (stretch.cause == BubbleCause::unknown) return stretch;
  stretch.cause = BubbleCause::workers;
  stretch.purpose = Purpose::none;
  return stretch;
}

/// A parameter server's activity, by its own ops on lanes other than its nearly empty compute lane: it moves bytes,
/// updates, or is idle until a worker arrives. Chains of others' ops do not show that.
void add_server(const StepIndex& index, int rank, TimeRange step, SpanAt last, std::vector<BubbleStretch>& to) {
  std::int64_t free = step.begin_ns;
  const auto add = [&](std::int64_t until, BubbleCause cause, TimeClass time, SpanAt at = none) {
    until = std::min(until, step.end_ns);
    if (until <= free) return;
    BubbleStretch stretch;
    stretch.rank = rank;
    stretch.begin_ns = free;
    stretch.end_ns = until;
    stretch.cause = cause;
    stretch.time = time;
    if (cause == BubbleCause::exposed_communication) stretch.purpose = index[at].op.fields().purpose;
    to.push_back(stretch);
    free = until;
  };
  std::vector<SpanAt> ops = index.beside(rank);
  ops.insert(ops.end(), index.compute(rank).begin(), index.compute(rank).end());
  std::sort(ops.begin(), ops.end());  // spans of a rank are sorted by begin
  for (const SpanAt at : ops) {
    const Span& span = index[at];
    if (span.end_ns <= free || span.begin_ns >= step.end_ns) continue;
    const bool lost = span.begin_ns > free && index.holder_of(at).missing;
    add(span.begin_ns, lost ? BubbleCause::unknown : BubbleCause::workers, TimeClass::other);
    if (is_compute(span.op.lane())) {
      free = std::max(free, std::min(span.end_ns, step.end_ns));
    } else if (is_communication(span.op.kind())) {
      add(index.active_ns(at), BubbleCause::workers, TimeClass::other);
      add(span.end_ns, BubbleCause::exposed_communication, time_class_of(span.op.fields().purpose), at);
    } else {
      add(span.end_ns, BubbleCause::overhead, time_class_of(span.op.kind()));
    }
  }
  if (index.missing() == 0) return add(step.end_ns, BubbleCause::workers, TimeClass::other);
  const TimeRange rest{free, step.end_ns};
  if (rest.empty()) return;
  for (const Piece& piece : explain_idle(index, rank, rest, none, last))
    to.push_back(of_server(stretch_of(piece, rank, OpId{}, RankPhases{})));
}

/// The span that ends the step: the last one of this step to end; of several the first to begin.
SpanAt last_of_step(const StepIndex& index, TimeRange step) {
  SpanAt last = none;
  for (SpanAt at = 0; at < static_cast<SpanAt>(index.spans().size()); ++at)
    if (index[at].step == index.step() && index[at].begin_ns < step.end_ns &&
        (last == none || index[at].end_ns > index[last].end_ns ||
         (index[at].end_ns == index[last].end_ns && index[at].begin_ns < index[last].begin_ns)))
      last = at;
  return last;
}

/// Places between which a lost op of this step may have run in the idle time between two spans. Places outside
/// the order represent spans of other steps, or none.
bool may_have_lost(const StepIndex& index, int rank, SpanAt before, SpanAt next) {
  const auto step = static_cast<std::int64_t>(index.step());
  const auto end = index.ops(rank);
  const std::int64_t step_before = before == none ? step - 1 : index[before].step;
  const std::int64_t step_next = next == none ? step + 1 : index[next].step;
  if (step_before > step || step_next < step) return false;
  return index.misses_compute(rank, step_before < step ? -1 : index.op_index(before),
                              step_next > step ? end : index.op_index(next));
}

void add_rank(const StepIndex& index, int rank, TimeRange step, SpanAt last, std::vector<BubbleStretch>& to) {
  const RankPhases phases = phases_of(index, rank);
  SpanAt before = none;
  std::int64_t free = step.begin_ns;
  const auto idle_until = [&](std::int64_t until, SpanAt next) {
    const TimeRange idle{free, std::min(until, step.end_ns)};
    if (idle.empty()) return;
    const OpId next_op = next == none ? OpId{} : index[next].op;
    if (may_have_lost(index, rank, before, next)) {
      const Piece unknown{idle.begin_ns, idle.end_ns, PieceKind::own_unknown, Purpose::none, -1, OpId{}};
      to.push_back(stretch_of(unknown, rank, next_op, phases));
      return;
    }
    for (const Piece& piece : explain_idle(index, rank, idle, next, last)) {
      to.push_back(stretch_of(piece, rank, next_op, phases));
    }
  };
  for (const SpanAt at : index.compute(rank)) {
    if (free >= step.end_ns) return;
    idle_until(index[at].begin_ns, at);
    before = at;
    free = std::max(free, std::min(index[at].begin_ns, step.end_ns));
    free = std::max(free, index[at].end_ns);
  }
  idle_until(step.end_ns, none);
}

/// Of a step that nobody planned: what ops depend on is not known, so idle time is told by what the rank's messages and
/// collectives did at each moment. If any moved bytes it was communication; else, if any waited, for the last to
/// arrive.
void add_observed(const StepIndex& index, int rank, TimeRange step, std::vector<BubbleStretch>& to) {
  std::vector<SpanAt> exchanges;
  for (const SpanAt at : index.beside(rank))
    if (is_communication(index[at].op.kind())) exchanges.push_back(at);
  std::size_t first = 0;  // of those that may not have ended
  const auto idle_until = [&](std::int64_t begin, std::int64_t end, SpanAt next) {
    while (first < exchanges.size() && index[exchanges[first]].end_ns <= begin) ++first;
    std::vector<SpanAt> during;
    std::vector<std::int64_t> cuts{begin, end};
    for (std::size_t i = first; i < exchanges.size() && index[exchanges[i]].begin_ns < end; ++i) {
      const SpanAt at = exchanges[i];
      if (index[at].end_ns <= begin) continue;
      during.push_back(at);
      for (const std::int64_t time : {index[at].begin_ns, index.active_ns(at), index[at].end_ns})
        if (time > begin && time < end) cuts.push_back(time);
    }
    std::sort(cuts.begin(), cuts.end());
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      if (cuts[i] == cuts[i + 1]) continue;
      Piece piece{cuts[i], cuts[i + 1], PieceKind::own_overhead, Purpose::none, -1, OpId{}};
      for (const SpanAt at : during) {
        if (index[at].begin_ns > piece.begin_ns || index[at].end_ns <= piece.begin_ns) continue;
        const bool moves = index.active_ns(at) <= piece.begin_ns;
        if (piece.kind == PieceKind::own_transfer || (!moves && piece.kind == PieceKind::peer_compute)) continue;
        const SpanAt peer = index.last_to_arrive(at);
        piece.kind = moves ? PieceKind::own_transfer : PieceKind::peer_compute;
        piece.purpose = index[at].op.fields().purpose;
        piece.rank = peer == none ? rank : index[peer].rank;
        piece.op = index[at].op;
      }
      const BubbleStretch stretch = stretch_of(piece, rank, next == none ? OpId{} : index[next].op, RankPhases{});
      const bool goes_on = !to.empty() && to.back().rank == rank && to.back().end_ns == stretch.begin_ns &&
                           to.back().cause == stretch.cause && to.back().waits_for_op == stretch.waits_for_op &&
                           to.back().waits_for_rank == stretch.waits_for_rank && to.back().next == stretch.next;
      if (goes_on)
        to.back().end_ns = stretch.end_ns;
      else
        to.push_back(stretch);
    }
  };
  std::int64_t free = step.begin_ns;
  for (const SpanAt at : index.compute(rank)) {
    if (free >= step.end_ns) return;
    const std::int64_t begin = std::min(index[at].begin_ns, step.end_ns);
    if (begin > free) idle_until(free, begin, at);
    free = std::max(free, index[at].end_ns);
  }
  if (free < step.end_ns) idle_until(free, step.end_ns, none);
}

/// The part of a rank's waiting that keeps the phase as its cause, and how the rest is divided.
struct Refinement {
  std::array<double, 4> keep{1, 1, 1, 1};
  double straggler = 0;  ///< share of the rest; the other part of the rest is imbalance
};

std::vector<Refinement> refinements(const std::vector<BubbleStretch>& stretches, const Counterfactual& layouts) {
  const std::size_t ranks = layouts.balanced.size();
  std::vector<IdleByPhase> seen(ranks);
  for (const BubbleStretch& s : stretches)
    if (is_phase(s.cause)) seen[s.rank][s.cause] += static_cast<double>(s.length_ns());
  std::vector<Refinement> refinements(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    double beyond = 0;  // time that the balanced layout does not have
    for (std::size_t phase = 0; phase < 4; ++phase)
      beyond += std::max(0.0, seen[r].ns[phase] - layouts.balanced[r].ns[phase]);
    const double fewer = layouts.without_stragglers[r].sum();
    const double by_stragglers = std::max(0.0, layouts.as_measured[r].sum() - fewer);
    const double by_imbalance = std::max(0.0, fewer - layouts.balanced[r].sum());
    const double explained = by_stragglers + by_imbalance;
    if (beyond <= 0 || explained <= 0) continue;
    refinements[r].straggler = by_stragglers / explained;
    const double given = std::min(1.0, explained / beyond);
    for (std::size_t phase = 0; phase < 4; ++phase)
      if (const double excess = seen[r].ns[phase] - layouts.balanced[r].ns[phase]; excess > 0)
        refinements[r].keep[phase] = 1.0 - given * excess / seen[r].ns[phase];
  }
  return refinements;
}

std::vector<BubbleStretch> refine(const std::vector<BubbleStretch>& stretches, const Counterfactual& layouts) {
  const std::vector<Refinement> of_rank = refinements(stretches, layouts);
  std::vector<BubbleStretch> refined;
  for (const BubbleStretch& stretch : stretches) {
    if (!is_phase(stretch.cause)) {
      refined.push_back(stretch);
      continue;
    }
    const Refinement& how = of_rank[stretch.rank];
    const auto length = static_cast<double>(stretch.length_ns());
    const double keep = how.keep[static_cast<std::size_t>(stretch.cause)];
    const std::int64_t kept = stretch.begin_ns + std::llround(length * keep);
    const std::int64_t slow = kept + std::llround(length * (1.0 - keep) * how.straggler);
    const auto add = [&](BubbleCause cause, std::int64_t begin, std::int64_t end) {
      if (begin >= end) return;
      BubbleStretch part = stretch;
      part.cause = cause;
      part.begin_ns = begin;
      part.end_ns = end;
      refined.push_back(part);
    };
    add(stretch.cause, stretch.begin_ns, kept);
    add(BubbleCause::straggler, kept, std::min(slow, stretch.end_ns));
    add(BubbleCause::imbalance, std::min(slow, stretch.end_ns), stretch.end_ns);
  }
  return refined;
}

}  // namespace

IdleTimes idle_times(const StepIndex& index, TimeRange step) {
  IdleTimes result;
  std::vector<BubbleStretch>& stretches = result.stretches;
  const SpanAt last = last_of_step(index, step);
  for (int rank = 0; rank < index.ranks(); ++rank) {
    if (index.linked().is_absent(static_cast<std::size_t>(rank))) {
      const Piece unknown{step.begin_ns, step.end_ns, PieceKind::own_unknown, Purpose::none, -1, OpId{}};
      stretches.push_back(stretch_of(unknown, rank, OpId{}, RankPhases{}));
      continue;
    }
    if (!index.planned())
      add_observed(index, rank, step, stretches);
    else
      (index.serves(rank) ? add_server : add_rank)(index, rank, step, last, stretches);
  }
  const bool waits = std::ranges::any_of(stretches, [](const BubbleStretch& s) { return is_phase(s.cause); });
  if (waits && index.planned()) {
    Counterfactual layouts = lay_out_again(index);
    stretches = refine(stretches, layouts);
    result.slowness = std::move(layouts.slowness);
  }
  if (index.linked().has_pipeline) return result;
  for (BubbleStretch& stretch : stretches)
    if (is_phase(stretch.cause)) stretch.cause = BubbleCause::peers;
  return result;
}

}  // namespace rankscope::analysis
