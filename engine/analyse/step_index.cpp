#include "engine/analyse/step_index.hpp"

#include <algorithm>
#include <cstdlib>

namespace rankscope::analysis {

StepIndex::StepIndex(const std::vector<RankProgram>& programs, const RankGrid& grid, const std::vector<Span>& spans,
                     std::uint32_t step)
    : programs_(programs), grid_(grid), step_(step), apart_(steps_apart(programs)) {
  const std::size_t ranks = programs.size();
  op_by_id_.resize(ranks);
  span_of_.resize(ranks);
  compute_.resize(ranks);
  missing_compute_.resize(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    op_by_id_[r].reserve(programs[r].ops.size());
    for (std::size_t i = 0; i < programs[r].ops.size(); ++i)
      op_by_id_[r].emplace(programs[r].ops[i].id, static_cast<std::int32_t>(i));
    span_of_[r].assign(static_cast<std::size_t>(2 * apart_ + 1), std::vector<SpanAt>(programs[r].ops.size(), none));
  }
  for (const Span& span : spans) {
    const std::int64_t beside = static_cast<std::int64_t>(span.step) - step;
    if (span.rank < 0 || span.rank >= static_cast<std::int32_t>(ranks) || std::abs(beside) > apart_ ||
        span.end_ns < span.begin_ns)
      continue;
    spans_.push_back(span);
  }
  std::stable_sort(spans_.begin(), spans_.end(), [](const Span& a, const Span& b) {
    if (a.begin_ns != b.begin_ns) return a.begin_ns < b.begin_ns;
    return a.step != b.step ? a.step < b.step : a.end_ns < b.end_ns;
  });

  op_of_.assign(spans_.size(), -1);
  previous_.assign(spans_.size(), none);
  std::vector<std::array<SpanAt, lane_count>> last(ranks);
  for (auto& lanes : last) lanes.fill(none);
  for (SpanAt at = 0; at < static_cast<SpanAt>(spans_.size()); ++at) {
    const Span& span = (*this)[at];
    const auto rank = static_cast<std::size_t>(span.rank);
    const auto lane = static_cast<std::size_t>(span.op.lane());
    previous_[static_cast<std::size_t>(at)] = last[rank][lane];
    last[rank][lane] = at;
    if (span.op.lane() == Lane::compute) compute_[rank].push_back(at);
    const auto found = op_by_id_[rank].find(span.op);
    if (found == op_by_id_[rank].end()) continue;
    op_of_[static_cast<std::size_t>(at)] = found->second;
    span_of_[rank][static_cast<std::size_t>(static_cast<std::int64_t>(span.step) - step + apart_)]
            [static_cast<std::size_t>(found->second)] = at;
  }
  for (std::size_t r = 0; r < ranks; ++r)
    for (std::size_t i = 0; i < programs[r].ops.size(); ++i) {
      if (span_of_[r][static_cast<std::size_t>(apart_)][i] != none) continue;
      ++missing_;
      if (programs[r].ops[i].lane() == Lane::compute) missing_compute_[r].push_back(static_cast<std::int32_t>(i));
    }
}

SpanAt StepIndex::find(int rank, std::int32_t op, std::int64_t step) const {
  const std::int64_t beside = step - step_ + apart_;
  if (rank < 0 || rank >= ranks() || op < 0 || beside < 0 || beside > 2 * apart_) return none;
  const auto& of_step = span_of_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(beside)];
  return static_cast<std::size_t>(op) < of_step.size() ? of_step[static_cast<std::size_t>(op)] : none;
}

SpanAt StepIndex::find(int rank, OpId op, std::int64_t step) const {
  if (rank < 0 || rank >= ranks()) return none;
  const auto& ops = op_by_id_[static_cast<std::size_t>(rank)];
  const auto found = ops.find(op);
  return found == ops.end() ? none : find(rank, found->second, step);
}

Holder StepIndex::holder_of(SpanAt at) const {
  const Span& span = (*this)[at];
  Holder holder;
  const auto consider = [&](SpanAt before) {
    if (before == none) return;
    if (holder.span == none || (*this)[before].end_ns > (*this)[holder.span].end_ns) holder.span = before;
  };
  consider(lane_previous(at));
  if (op_index(at) < 0) return {holder.span, true};
  const Op& op = program(span.rank).ops[static_cast<std::size_t>(op_index(at))];
  for (const OpIndex before : op.after) {
    const SpanAt found = find(span.rank, static_cast<std::int32_t>(before), span.step);
    consider(found);
    holder.missing |= found == none;
  }
  // The step before may not be among the spans at all; then nothing of it is known to be missing.
  for (const OpIndex before : op.after_previous)
    consider(find(span.rank, static_cast<std::int32_t>(before), static_cast<std::int64_t>(span.step) - 1));
  return holder;
}

SpanAt StepIndex::last_to_come(SpanAt at) const {
  const Span& span = (*this)[at];
  if (!is_communication(span.op.kind()) || op_index(at) < 0) return none;
  const Op& op = program(span.rank).ops[static_cast<std::size_t>(op_index(at))];
  if (!is_collective(op.id.kind())) return find(op.peer, counterpart(op.id), span.step);
  SpanAt last = none;
  for (const int member : grid_.group_of(span.rank, op.group)) {
    if (member == span.rank) continue;
    const SpanAt theirs = find(member, op.id, span.step);
    if (theirs != none && (last == none || (*this)[theirs].begin_ns > (*this)[last].begin_ns)) last = theirs;
  }
  return last;
}

std::int64_t StepIndex::active_ns(SpanAt at) const {
  const Span& span = (*this)[at];
  std::int64_t active = std::max(span.begin_ns, span.active_ns);
  if (const SpanAt last = last_to_come(at); last != none) active = std::max(active, (*this)[last].begin_ns);
  return std::min(active, span.end_ns);
}

bool StepIndex::misses_compute(int rank, std::int32_t after, std::int32_t before) const {
  const auto& missing = missing_compute_[static_cast<std::size_t>(rank)];
  const auto next = std::upper_bound(missing.begin(), missing.end(), after);
  return next != missing.end() && *next < before;
}

}  // namespace rankscope::analysis
