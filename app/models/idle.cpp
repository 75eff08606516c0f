// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/idle.hpp"

#include <algorithm>

namespace rankscope {
namespace {

// A piece of this width has room for a name.
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
  // First the runs of one cause: what is wide as a whole is wide, however finely it is cut.
  std::vector<IdleStretch> runs;
  for (const BubbleStretch& piece : stretches_of(step, rank)) {
    if (piece.length_ns() <= 0) continue;
    if (runs.empty() || runs.back().end_ns != piece.begin_ns || !same_cause(runs.back().parts.front().longest, piece))
      runs.push_back({rank, piece.begin_ns, piece.end_ns, {}, piece.next});
    add(runs.back(), piece);
  }
  std::vector<IdleStretch> result;
  for (const IdleStretch& run : runs) {
    const bool joins = !result.empty() && result.back().end_ns == run.begin_ns &&
                       (same_cause(largest(result.back()).longest, run.main()) || !nameable(run.length_ns()) ||
                        !nameable(result.back().length_ns()));
    if (!joins) {
      result.push_back(run);
      continue;
    }
    IdleStretch& stretch = result.back();
    stretch.end_ns = run.end_ns;
    stretch.next = run.next;
    const auto known = std::find_if(stretch.parts.begin(), stretch.parts.end(),
                                    [&](const IdlePart& part) { return same_cause(part.longest, run.main()); });
    if (known == stretch.parts.end()) {
      stretch.parts.push_back(run.parts.front());
    } else {
      known->length_ns += run.parts.front().length_ns;
      if (run.main().length_ns() > known->longest.length_ns()) known->longest = run.main();
    }
  }
  for (IdleStretch& stretch : result)
    std::stable_sort(stretch.parts.begin(), stretch.parts.end(),
                     [](const IdlePart& a, const IdlePart& b) { return a.length_ns > b.length_ns; });
  return result;
}

}  // namespace rankscope
