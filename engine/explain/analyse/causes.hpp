// Finds the cause of an idle time from the events during it. For this folder's own files.
#pragma once
#include <vector>

#include "engine/explain/analyse/counterfactual.hpp"
#include "engine/explain/analyse/wait_path.hpp"

namespace rankscope::analysis {

/// The result of idle_times.
struct IdleTimes {
  std::vector<BubbleStretch> stretches;
  std::vector<double> slowness;  ///< StepAnalysis::slowness
};

/// All idle times of all ranks within the step, by rank and begin, cut where the cause changes.
///
/// First the chain of ops that was waited for says what is transfer, overhead or unknown. The rest, waiting for others'
/// compute, is of the phase in which it falls (warm-up, first gradient, cool-down, or schedule in between; without a
/// pipeline these have no meaning, and what the layouts below leave of them is `peers`). Then two
/// counterfactual layouts with free communication say how much of that would be gone if no rank were a straggler, and
/// how much more if all ranks had equally much to do; so much of every phase, in proportion to what it has beyond the
/// balanced layout, is given to straggler and imbalance.
IdleTimes idle_times(const StepIndex& index, TimeRange step);

}  // namespace rankscope::analysis
