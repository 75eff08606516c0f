// "Explain the gap": why a measured step took longer or shorter than predicted, item by item.
#pragma once
#include <string>
#include <vector>

#include "engine/explain/analyse/step_analysis.hpp"

namespace rankscope {

/// One reason for a difference between two analyses of the same plan.
struct GapItem {
  std::int32_t rank = -1;
  TimeClass time = TimeClass::other;
  BubbleCause cause = BubbleCause::unknown;  ///< if time is bubble or other
  Purpose purpose = Purpose::none;           ///< of exposed communication
  double seconds = 0;                        ///< measured - predicted, on that rank
  double points = 0;                         ///< the same in percent of (predicted step time × workers)
  std::string words;                         ///< such as "rank 3: compute takes 1.20 ms longer, +2.1 points"
};

/// Largest difference first. The items' points sum to 100 · (measured / predicted step time - 1), since every rank's
/// classes fill its step. Parameter servers are omitted, as in every share of a step: workers wait for their
/// work. Empty if both have different numbers of ranks or the prediction has no length.
std::vector<GapItem> explain_gap(const StepAnalysis& predicted, const StepAnalysis& measured);

}  // namespace rankscope
