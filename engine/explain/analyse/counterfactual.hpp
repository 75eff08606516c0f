// Counterfactual steps, laid out from measured op times: with free communication, without stragglers, or with equal
// work on all ranks. For this folder's own files.
#pragma once
#include <array>
#include <vector>

#include "engine/explain/analyse/step_analysis.hpp"
#include "engine/explain/analyse/step_index.hpp"

namespace rankscope::analysis {

/// A rank is a straggler if its model compute takes this many times as long as equal work on other ranks.
inline constexpr double straggler_factor = 1.05;

/// The times of the phases in a rank's step.
struct RankPhases {
  bool seen = false;  ///< has model compute
  std::int64_t first_op_begin = 0, first_backward_begin = 0, last_forward_end = 0;
  /// warm_up, first_gradient, cool_down or schedule: the phase of an idle time that ends at `end`.
  BubbleCause of_idle(std::int64_t begin, std::int64_t end) const;
};
RankPhases phases_of(const StepIndex& index, int rank);

/// Idle nanoseconds of a rank by phase.
struct IdleByPhase {
  std::array<double, 4> ns{};  ///< warm_up, first_gradient, cool_down, schedule: the first four causes
  double& operator[](BubbleCause phase) { return ns[static_cast<std::size_t>(phase)]; }
  double operator[](BubbleCause phase) const { return ns[static_cast<std::size_t>(phase)]; }
  double sum() const { return ns[0] + ns[1] + ns[2] + ns[3]; }
};

/// [rank], in three layouts.
struct Counterfactual {
  std::vector<IdleByPhase> as_measured;         ///< communication is free, nothing else changed
  std::vector<IdleByPhase> without_stragglers;  ///< and stragglers compute as fast as other ranks with equal work
  std::vector<IdleByPhase> balanced;            ///< and all ranks have the same sum of model compute
  std::vector<double> slowness;                 ///< StepAnalysis::slowness
};
/// The step must have been planned.
Counterfactual lay_out_again(const StepIndex& index);

}  // namespace rankscope::analysis
