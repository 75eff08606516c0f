// Suggestions: plans that differ from a plan in one change, train the same on as many ranks, and the prediction for
// each.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "engine/op/not_known.hpp"
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

struct Alternative {
  std::string change;  ///< as text: "interleaved, 2 chunks a rank"
  PlanSpec plan;
  double step_seconds = not_known;  ///< predicted, like all below
  double bubble = not_known;        ///< share of the step, mean over the ranks
  double peak_bytes = not_known;    ///< of the device that needs the most memory
  bool fits = true;  ///< on the cluster's devices, if their memory is known
};

/// The plan itself, and its alternatives that can run.
struct Alternatives {
  Alternative now;
  std::vector<Alternative> others;  ///< by step time
};

/// `should_continue` is called before each prediction; false skips the rest. Throws as predict_step does for the plan
/// itself, and PlanError if it has more ops than are laid out in tenths of a second; such alternatives are omitted.
Alternatives alternatives_to(const Scenario& scenario, const std::function<bool()>& should_continue = {});

/// Relevant ones: at least one per cent faster (at most `faster` of them), and of the others at least a
/// tenth smaller (at most `smaller`, by memory). If the plan itself does not fit its devices, only those that fit.
std::vector<Alternative> worth_trying(const Alternatives& all, std::size_t faster = 4, std::size_t smaller = 2);

}  // namespace rankscope
