// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/idle.hpp"

#include <algorithm>

namespace rankscope {
namespace {

// A piece of this width has space for a name.
constexpr double nameable_pixels = 56;

bool same_cause(const BubbleStretch& a, const BubbleStretch& b) {
  return a.cause == b.cause && a.time == b.time && a.purpose == b.purpose;
}

void add(IdleStretch& stretch, const BubbleStretch& piece) {
  stretch.end_ns = piece.end_ns;
  stretch.next = piece.next;
  for (IdlePart& part : stretch.parts)
    if (same_cause(part.longest, piece)) {
      part.length_ns += piece.length_ns();
      if (piece.length_ns() > part.longest.length_ns()) part.longest = piece;
      return;
    }
  stretch.parts.push_back({piece, piece.length_ns()});
}

const IdlePart& largest(const IdleStretch& stretch) {
  return *std::max_element(stretch.parts.begin(), stretch.parts.end(),
                           [](const IdlePart& a, const IdlePart& b) { return a.length_ns < b.length_ns; });
}

void join(IdleStretch& stretch, const IdleStretch& next) {
  stretch.end_ns = next.end_ns;
  stretch.next = next.next;
  for (const IdlePart& part : next.parts) {
    const auto known = std::find_if(stretch.parts.begin(), stretch.parts.end(),
                                    [&](const IdlePart& other) { return same_cause(other.longest, part.longest); });
    if (known == stretch.parts.end()) {
      stretch.parts.push_back(part);
      continue;
    }
    known->length_ns += part.length_ns;
    if (part.longest.length_ns() > known->longest.length_ns()) known->longest = part.longest;
  }
}

/// Merges adjacent stretches without a gap between them if `joins` returns true.
template <typename Joins>
std::vector<IdleStretch> joined(const std::vector<IdleStretch>& stretches, const Joins& joins) {
  std::vector<IdleStretch> result;
  for (const IdleStretch& next : stretches)
    if (!result.empty() && result.back().end_ns == next.begin_ns && joins(result.back(), next))
      join(result.back(), next);
    else
      result.push_back(next);
  return result;
}

}  // namespace

std::span<const BubbleStretch> stretches_of(const StepAnalysis& step, std::int32_t rank) {
  const auto first = std::lower_bound(step.stretches.begin(), step.stretches.end(), rank,
                                      [](const BubbleStretch& stretch, std::int32_t r) { return stretch.rank < r; });
  const auto last = std::upper_bound(first, step.stretches.end(), rank,
                                     [](std::int32_t r, const BubbleStretch& stretch) { return r < stretch.rank; });
  return {first, last};
}

std::vector<IdleStretch> idle_stretches(const StepAnalysis& step, std::int32_t rank, double ns_per_pixel) {
  const double nameable_ns = nameable_pixels * ns_per_pixel;
  const auto nameable = [&](std::int64_t ns) { return static_cast<double>(ns) >= nameable_ns; };
  // First, adjacent pieces of one cause are merged: their total width decides whether a name fits.
  std::vector<IdleStretch> runs;
  for (const BubbleStretch& piece : stretches_of(step, rank)) {
    if (piece.length_ns() <= 0) continue;
    if (runs.empty() || runs.back().end_ns != piece.begin_ns || !same_cause(runs.back().parts.front().longest, piece))
      runs.push_back({rank, piece.begin_ns, piece.end_ns, {}, piece.next});
    add(runs.back(), piece);
  }
  const auto is_narrow = [&](const IdleStretch& one, const IdleStretch& other) {
    return !nameable(one.length_ns()) || !nameable(other.length_ns());
  };
  const auto is_same = [](const IdleStretch& one, const IdleStretch& other) {
    return same_cause(largest(one).longest, largest(other).longest);
  };
  // Very short stretches are merged with their neighbours. Then stretches of the same time class are merged, so that
  // bubble and exposed communication each have a name if it fits. All others are merged last.
  std::vector<IdleStretch> result = joined(runs, [&](const IdleStretch& one, const IdleStretch& other) {
    return is_same(one, other) || static_cast<double>(std::min(one.length_ns(), other.length_ns())) < nameable_ns / 7;
  });
  result = joined(result, [&](const IdleStretch& one, const IdleStretch& other) {
    return largest(one).longest.time == largest(other).longest.time && (is_same(one, other) || is_narrow(one, other));
  });
  result = joined(result, [&](const IdleStretch& one, const IdleStretch& other) {
    return is_same(one, other) || is_narrow(one, other);
  });
  for (IdleStretch& stretch : result)
    std::stable_sort(stretch.parts.begin(), stretch.parts.end(),
                     [](const IdlePart& a, const IdlePart& b) { return a.length_ns > b.length_ns; });
  return result;
}

}  // namespace rankscope
