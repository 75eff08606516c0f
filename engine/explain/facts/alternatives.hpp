// Suggestions: the plans that differ from a plan in one change, train the same on as many ranks, and the prediction for
// each.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "engine/op/not_known.hpp"
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

struct Alternative {
  std::string change;  ///< in words: "interleaved, 2 chunks a rank"
  PlanSpec plan;
  double step_seconds = not_known;  ///< predicted, as all below
  double bubble = not_known;        ///< share of the step, mean over the ranks
  double peak_bytes = not_known;    ///< of the fullest rank's device
  bool fits = true;  ///< on the cluster's devices, where it says how much memory these have
};

/// The plan itself, and those beside it that can run.
struct Alternatives {
  Alternative now;
  std::vector<Alternative> others;  ///< by step time
};

/// `should_continue` is called before each prediction; false skips the rest. Throws what predict_step throws of the plan
/// itself, and PlanError when it has more ops than are laid out in tenths of a second; others like these are left out.
Alternatives alternatives_to(const Scenario& scenario, const std::function<bool()>& should_continue = {});

/// Those worth showing: at least one per cent faster (at most `faster` of them), and of the others at least a
/// tenth smaller (at most `smaller`, by memory). Where the plan itself does not fit its devices, only what does.
std::vector<Alternative> worth_trying(const Alternatives& all, std::size_t faster = 4, std::size_t smaller = 2);

}  // namespace rankscope
