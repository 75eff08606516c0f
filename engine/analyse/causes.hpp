// From what happened during an idle stretch to its cause. For this folder's own files.
#pragma once
#include <vector>

#include "engine/analyse/wait_path.hpp"

namespace rankscope::analysis {

/// A rank whose model compute takes this many times what equal work takes elsewhere is a straggler.
inline constexpr double straggler_factor = 1.1;

/// What is known of a rank's compute in the step.
struct RankCompute {
  std::int64_t busy_ns = 0;  ///< of model compute
  double slowness = 1;       ///< its time over that of equal work (the same signature) on the median rank; 1 unknown
  TimeRange first_forward_to_last;  ///< begin of the first model op, end of the last forward
  std::int64_t first_backward_ns = 0;
  bool seen = false;
};
std::vector<RankCompute> rank_compute(const StepIndex& index);

/// The stretches of one rank: its idle times, each cut where the cause changes.
std::vector<BubbleStretch> stretches_of(const StepIndex& index, const std::vector<RankCompute>& compute, int rank,
                                        TimeRange step);

}  // namespace rankscope::analysis
