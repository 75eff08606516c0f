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
/// First the chain of ops that the rank waited for shows transfers, overhead and unknown time. The rest is waiting for
/// the compute of others; its cause is its phase (warm-up, first gradient, cool-down, or schedule in between; without a
/// pipeline phases have no meaning, and the rest after the next two layouts is `peers`). Then two counterfactual
/// layouts with free communication show how much of it would not exist without stragglers, and how much more if all
/// ranks had the same amount of compute; these parts of each phase, proportional to its time beyond the balanced
/// layout, become straggler and imbalance.
IdleTimes idle_times(const StepIndex& index, TimeRange step);

}  // namespace rankscope::analysis
