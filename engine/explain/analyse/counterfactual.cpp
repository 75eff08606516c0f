#include "engine/explain/analyse/counterfactual.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "engine/predict/cost/signature.hpp"

namespace rankscope::analysis {
namespace {

using OpTimes = std::vector<std::vector<std::int64_t>>;  ///< [rank][op]
using Signatures = std::vector<std::vector<OpSignature>>;

const RankProgram& program_of(const StepIndex& index, int rank) { return (*index.planned()->programs)[rank]; }

Signatures signatures_of(const StepIndex& index) {
  Signatures signatures(static_cast<std::size_t>(index.ranks()));
  for (int rank = 0; rank < index.ranks(); ++rank)
    for (const Op& op : program_of(index, rank).ops)
      signatures[rank].push_back(op.lane() == Lane::compute ? signature_of(program_of(index, rank), op)
                                                            : OpSignature{});
  return signatures;
}

/// The time of every compute op; if its span is missing, the median of its signature.
OpTimes measured_times(const StepIndex& index, const Signatures& signatures) {
  std::unordered_map<OpSignature, std::vector<std::int64_t>> known;
  OpTimes times(signatures.size());
  for (std::size_t r = 0; r < times.size(); ++r) {
    const auto rank = static_cast<int>(r);
    times[r].assign(signatures[r].size(), 0);
    for (std::size_t i = 0; i < times[r].size(); ++i) {
      if (program_of(index, rank).ops[i].lane() != Lane::compute) continue;
      const SpanAt at = index.find(rank, static_cast<std::int32_t>(i), index.step());
      times[r][i] = at == none ? -1 : index[at].end_ns - index[at].begin_ns;
      if (at != none) known[signatures[r][i]].push_back(times[r][i]);
    }
  }
  for (std::size_t r = 0; r < times.size(); ++r)
    for (std::size_t i = 0; i < times[r].size(); ++i)
      if (times[r][i] < 0) times[r][i] = median(known[signatures[r][i]]);
  return times;
}

bool is_model_op(const StepIndex& index, std::size_t rank, std::size_t op) {
  return is_model_compute(program_of(index, static_cast<int>(rank)).ops[op].id.kind());
}

/// Each rank's time for work that other ranks do as well, relative to the median of those ranks.
std::vector<double> slowness_of(const StepIndex& index, const Signatures& signatures, const OpTimes& times) {
  std::map<OpSignature, std::map<std::size_t, std::vector<std::int64_t>>> by_work;
  for (std::size_t r = 0; r < times.size(); ++r)
    for (std::size_t i = 0; i < times[r].size(); ++i)
      if (is_model_op(index, r, i)) by_work[signatures[r][i]][r].push_back(times[r][i]);
  std::vector<double> mine(times.size()), elsewhere(times.size());
  for (const auto& [signature, ranks] : by_work) {
    if (ranks.size() < 2) continue;
    std::map<std::size_t, std::int64_t> typical;
    for (const auto& [rank, values] : ranks) typical[rank] = median(values);
    std::vector<std::int64_t> sorted;
    for (const auto& [rank, value] : typical) sorted.push_back(value);
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [rank, own] : typical) {
      // The lower median of all but this one, without building that list for every rank.
      const std::size_t middle = (sorted.size() - 2) / 2;
      const std::int64_t others = sorted[own <= sorted[middle] ? middle + 1 : middle];
      const auto count = static_cast<double>(ranks.at(rank).size());
      mine[rank] += count * static_cast<double>(own);
      elsewhere[rank] += count * static_cast<double>(others);
    }
  }
  std::vector<double> slowness(times.size(), 1.0);
  for (std::size_t r = 0; r < times.size(); ++r)
    if (elsewhere[r] > 0) slowness[r] = mine[r] / elsewhere[r];
  return slowness;
}

void scale_model_compute(const StepIndex& index, OpTimes& times, std::size_t rank, double factor) {
  for (std::size_t i = 0; i < times[rank].size(); ++i)
    if (is_model_op(index, rank, i)) times[rank][i] = std::llround(static_cast<double>(times[rank][i]) * factor);
}

void balance(const StepIndex& index, OpTimes& times) {
  std::vector<double> work(times.size());
  double whole = 0;
  for (std::size_t r = 0; r < times.size(); ++r)
    for (std::size_t i = 0; i < times[r].size(); ++i)
      if (is_model_op(index, r, i)) work[r] += static_cast<double>(times[r][i]);
  for (const double of_rank : work) whole += of_rank;
  const double mean = whole / static_cast<double>(times.size());
  for (std::size_t r = 0; r < times.size(); ++r)
    if (work[r] > 0) scale_model_compute(index, times, r, mean / work[r]);
}

/// A single step laid out with these times and free communication: all its idle time is waiting for others' compute.
std::vector<IdleByPhase> idle_of(const StepIndex& original, const OpTimes& times) {
  const Costs costs{[&](const RankProgram& program, const Op& op) {
                      const auto i = static_cast<std::size_t>(&op - program.ops.data());
                      return times[program.rank][i];
                    },
                    {},
                    {}};
  const Simulation simulation = simulate(*original.planned()->programs, original.planned()->grid, costs);
  const StepIndex index(original.linked(), simulation.spans, 0);
  std::vector<IdleByPhase> idle;
  for (int rank = 0; rank < index.ranks(); ++rank) {
    const RankPhases phases = phases_of(index, rank);
    IdleByPhase& of_rank = idle.emplace_back();
    std::int64_t free = 0;
    const auto until = [&](std::int64_t begin) {
      if (begin > free) of_rank[phases.of_idle(free, begin)] += static_cast<double>(begin - free);
    };
    for (const SpanAt at : index.compute(rank)) {
      until(index[at].begin_ns);
      free = std::max(free, index[at].end_ns);
    }
    until(simulation.end_ns);
  }
  return idle;
}

}  // namespace

BubbleCause RankPhases::of_idle(std::int64_t begin, std::int64_t end) const {
  if (!seen || end <= first_op_begin) return BubbleCause::warm_up;
  if (end <= first_backward_begin) return BubbleCause::first_gradient;
  return begin >= last_forward_end ? BubbleCause::cool_down : BubbleCause::schedule;
}

RankPhases phases_of(const StepIndex& index, int rank) {
  RankPhases phases;
  bool backward = false;
  for (const SpanAt at : index.compute(rank)) {
    const Span& span = index[at];
    const OpKind kind = span.op.kind();
    if (span.step != index.step() || !is_model_compute(kind)) continue;
    if (!phases.seen) phases.first_op_begin = phases.last_forward_end = span.begin_ns;
    phases.seen = true;
    if (kind == OpKind::forward) {
      phases.last_forward_end = span.end_ns;
    } else if (kind != OpKind::recompute && !backward) {
      backward = true;
      phases.first_backward_begin = span.begin_ns;
    }
  }
  return phases;
}

Counterfactual lay_out_again(const StepIndex& index) {
  const Signatures signatures = signatures_of(index);
  OpTimes times = measured_times(index, signatures);
  Counterfactual result;
  result.as_measured = idle_of(index, times);
  const std::vector<double> slowness = slowness_of(index, signatures, times);
  bool slow = false;
  for (std::size_t r = 0; r < slowness.size(); ++r)
    if (slowness[r] > straggler_factor) {
      scale_model_compute(index, times, r, 1.0 / slowness[r]);
      slow = true;
    }
  result.without_stragglers = slow ? idle_of(index, times) : result.as_measured;
  balance(index, times);
  result.balanced = idle_of(index, times);
  result.slowness = slowness;
  return result;
}

}  // namespace rankscope::analysis
