#include "engine/analyse/causes.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/simulate/signature.hpp"

namespace rankscope::analysis {
namespace {

/// [signature][rank] → durations. Sums are compared only where at least two ranks do the same work.
using Durations = std::map<OpSignature, std::map<int, std::vector<std::int64_t>>>;

void find_slowness(const Durations& durations, std::vector<RankCompute>& compute) {
  std::vector<double> mine(compute.size()), elsewhere(compute.size());
  for (const auto& [signature, ranks] : durations) {
    if (ranks.size() < 2) continue;
    std::map<int, std::int64_t> typical;
    for (const auto& [rank, values] : ranks) typical[rank] = median(values);
    for (const auto& [rank, own] : typical) {
      std::vector<std::int64_t> others;
      for (const auto& [other, value] : typical)
        if (other != rank) others.push_back(value);
      const auto weight = static_cast<double>(ranks.at(rank).size());
      mine[static_cast<std::size_t>(rank)] += weight * static_cast<double>(own);
      elsewhere[static_cast<std::size_t>(rank)] += weight * static_cast<double>(median(others));
    }
  }
  for (std::size_t r = 0; r < compute.size(); ++r)
    if (elsewhere[r] > 0) compute[r].slowness = mine[r] / elsewhere[r];
}

class Causes {
 public:
  Causes(const StepIndex& index, const std::vector<RankCompute>& compute, int rank, OpId next)
      : index_(index), compute_(compute), rank_(rank), next_(next) {}

  void add(const Piece& piece, std::vector<BubbleStretch>& to) const {
    BubbleStretch stretch;
    stretch.rank = rank_;
    stretch.begin_ns = piece.begin_ns;
    stretch.end_ns = piece.end_ns;
    stretch.purpose = Purpose::none;
    stretch.waits_for_rank = piece.rank;
    stretch.waits_for_op = piece.op;
    stretch.next = next_;
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
      case PieceKind::own_overhead:
      case PieceKind::own_unknown:
        stretch.cause = piece.kind == PieceKind::own_overhead ? BubbleCause::overhead : BubbleCause::unknown;
        stretch.time = TimeClass::other;
        stretch.waits_for_rank = -1;
        stretch.waits_for_op = OpId{};
        break;
      case PieceKind::peer_overhead: stretch.cause = BubbleCause::overhead; break;
      case PieceKind::peer_unknown: stretch.cause = BubbleCause::unknown; break;
      case PieceKind::peer_compute: return add_compute(stretch, to);
    }
    to.push_back(stretch);
  }

 private:
  void add_compute(BubbleStretch stretch, std::vector<BubbleStretch>& to) const {
    const RankCompute& peer = compute_[static_cast<std::size_t>(stretch.waits_for_rank)];
    const bool slow = peer.slowness > straggler_factor;
    const bool same_stage =
        index_.grid().coordinates_of(stretch.waits_for_rank).pipeline == index_.grid().coordinates_of(rank_).pipeline;
    if (same_stage) {  // equal work by plan: whoever comes late has more to do or is slow
      stretch.cause = slow ? BubbleCause::straggler : BubbleCause::imbalance;
      to.push_back(stretch);
      return;
    }
    // Of a slow rank's op the part beyond what the work takes elsewhere is its slowness; the rest has the cause that it
    // would have anyway.
    BubbleStretch rest = stretch;
    if (slow) {
      const auto excess = static_cast<double>(stretch.length_ns()) * (1.0 - 1.0 / peer.slowness);
      rest.end_ns = stretch.end_ns - std::llround(excess);
    }
    rest.cause = phase(rest);
    if (rest.length_ns() > 0) to.push_back(rest);
    stretch.begin_ns = rest.end_ns;
    stretch.cause = BubbleCause::straggler;
    if (stretch.length_ns() > 0) to.push_back(stretch);
  }

  BubbleCause phase(const BubbleStretch& stretch) const {
    const RankCompute& own = compute_[static_cast<std::size_t>(rank_)];
    if (!own.seen || stretch.end_ns <= own.first_forward_to_last.begin_ns) return BubbleCause::warm_up;
    if (stretch.end_ns <= own.first_backward_ns) return BubbleCause::first_gradient;
    if (stretch.begin_ns >= own.first_forward_to_last.end_ns) return BubbleCause::cool_down;
    return BubbleCause::schedule;
  }

  const StepIndex& index_;
  const std::vector<RankCompute>& compute_;
  int rank_;
  OpId next_;
};

/// Between warm-up and cool-down a rank waits because the order of ops wants it to, or because others have more to do:
/// the latter for at most as long as the busiest rank is busier. That share of each such stretch is imbalance.
void split_imbalance(std::vector<BubbleStretch>& stretches, const std::vector<RankCompute>& compute, int rank) {
  const auto work = [&](const RankCompute& of) {
    return static_cast<double>(of.busy_ns) / (of.slowness > straggler_factor ? of.slowness : 1.0);
  };
  double most = 0, steady = 0;
  for (const RankCompute& of : compute) most = std::max(most, work(of));
  for (const BubbleStretch& s : stretches)
    if (s.cause == BubbleCause::schedule) steady += static_cast<double>(s.length_ns());
  const double less = most - work(compute[static_cast<std::size_t>(rank)]);
  if (steady <= 0 || less <= 0) return;
  const double share = std::min(1.0, less / steady);
  std::vector<BubbleStretch> cut;
  for (BubbleStretch s : stretches) {
    if (s.cause == BubbleCause::schedule) {
      BubbleStretch imbalance = s;
      imbalance.cause = BubbleCause::imbalance;
      imbalance.begin_ns = s.end_ns = s.end_ns - std::llround(static_cast<double>(s.length_ns()) * share);
      if (s.length_ns() > 0) cut.push_back(s);
      if (imbalance.length_ns() > 0) cut.push_back(imbalance);
    } else {
      cut.push_back(s);
    }
  }
  stretches = std::move(cut);
}

/// The span that ends the step: the last one of this step to end.
SpanAt last_of_step(const StepIndex& index, TimeRange step) {
  SpanAt last = none;
  for (SpanAt at = 0; at < static_cast<SpanAt>(index.spans().size()); ++at)
    if (index[at].step == index.step() && index[at].begin_ns < step.end_ns &&
        (last == none || index[at].end_ns > index[last].end_ns))
      last = at;
  return last;
}

}  // namespace

std::vector<RankCompute> rank_compute(const StepIndex& index) {
  std::vector<RankCompute> compute(static_cast<std::size_t>(index.ranks()));
  Durations durations;
  for (int rank = 0; rank < index.ranks(); ++rank) {
    RankCompute& own = compute[static_cast<std::size_t>(rank)];
    bool backward = false;
    for (const SpanAt at : index.compute(rank)) {
      const Span& span = index[at];
      const OpKind kind = span.op.kind();
      if (span.step != index.step() || !is_model_compute(kind)) continue;
      own.busy_ns += span.end_ns - span.begin_ns;
      if (!own.seen) own.first_forward_to_last = {span.begin_ns, span.begin_ns};
      own.seen = true;
      if (kind == OpKind::forward) {
        own.first_forward_to_last.end_ns = span.end_ns;
      } else if (kind != OpKind::recompute && !backward) {
        backward = true;
        own.first_backward_ns = span.begin_ns;
      }
      if (const std::int32_t op = index.op_index(at); op >= 0) {
        const RankProgram& program = index.program(rank);
        durations[signature_of(program, program.ops[static_cast<std::size_t>(op)])][rank].push_back(span.end_ns -
                                                                                                    span.begin_ns);
      }
    }
  }
  find_slowness(durations, compute);
  return compute;
}

std::vector<BubbleStretch> stretches_of(const StepIndex& index, const std::vector<RankCompute>& compute, int rank,
                                        TimeRange step) {
  const auto in_program = [&](SpanAt at, std::int32_t otherwise) {  // position among this step's ops
    return at == none || index[at].step != index.step() ? otherwise : index.op_index(at);
  };
  std::vector<BubbleStretch> stretches;
  const auto end_of_program = static_cast<std::int32_t>(index.program(rank).ops.size());
  const SpanAt last = last_of_step(index, step);
  SpanAt before = none;
  std::int64_t free = step.begin_ns;
  const auto idle_until = [&](std::int64_t until, SpanAt next) {
    const TimeRange idle{free, std::min(until, step.end_ns)};
    if (idle.empty()) return;
    const OpId next_op = next == none ? OpId{} : index[next].op;
    const Causes causes(index, compute, rank, next_op);
    // An op of this step that should have run here and has no span: it may have run during any part of this.
    const bool earlier = before != none && index[before].step > index.step();
    const bool later = next != none && index[next].step < index.step();
    if (!earlier && !later && index.misses_compute(rank, in_program(before, -1), in_program(next, end_of_program))) {
      causes.add({idle.begin_ns, idle.end_ns, PieceKind::own_unknown, Purpose::none, -1, OpId{}}, stretches);
      return;
    }
    for (const Piece& piece : explain_idle(index, rank, idle, next, last)) causes.add(piece, stretches);
  };
  for (const SpanAt at : index.compute(rank)) {
    const Span& span = index[at];
    idle_until(span.begin_ns, at);
    if (span.begin_ns >= step.end_ns) {
      before = at;
      free = step.end_ns;
      break;
    }
    if (span.end_ns > step.begin_ns || span.step == index.step()) before = at;
    free = std::max(free, span.end_ns);
  }
  idle_until(step.end_ns, none);
  split_imbalance(stretches, compute, rank);
  return stretches;
}

}  // namespace rankscope::analysis
