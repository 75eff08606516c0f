// SPDX-License-Identifier: GPL-3.0-or-later
// Idle times as shown in the time line. The analysis splits a wait wherever its op or its cause changes, down to
// microseconds; a label needs one interval with its main cause and the shares of the others.
#pragma once
#include <span>
#include <vector>

#include "app/models/bubble_source.hpp"

namespace rankscope {

/// The share of one cause in an idle time.
struct IdlePart {
  BubbleStretch longest;  ///< its longest piece, which gives the cause and the rank it waits for
  std::int64_t length_ns = 0;
};

struct IdleStretch {
  std::int32_t rank = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::vector<IdlePart> parts;  ///< one per cause (and purpose), longest first; never empty
  OpId next;                    ///< the op that could not start until its end; not valid() at the step's end
  const BubbleStretch& main() const { return parts.front().longest; }
  std::int64_t length_ns() const { return end_ns - begin_ns; }
};

/// The analysis' pieces of one rank, ordered by rank and begin.
std::span<const BubbleStretch> stretches_of(const StepAnalysis& step, std::int32_t rank);

/// The idle stretches of `rank`, in order. Pieces without a gap between them are one, unless a piece of another cause
/// is wide enough for its own label at this zoom.
std::vector<IdleStretch> idle_stretches(const StepAnalysis& step, std::int32_t rank, double ns_per_pixel);

}  // namespace rankscope
