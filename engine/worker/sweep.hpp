// `rankscope-engine sweep`: runs a scenario with several values of its keys and compares the
// points: strong and weak scaling.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/explain/analyse/scaling.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/worker/worker.hpp"

namespace rankscope {

/// Steps of each run where nothing else is said: enough for a median, and soon over.
inline constexpr int sweep_steps = 20;

/// The user's request.
struct SweepRequest {
  std::string scenario;           ///< a file
  std::vector<Override> set;      ///< the same for all points
  std::vector<std::string> over;  ///< "plan.data=1,2,4", an axis each
  bool weak = false;              ///< the global batch grows with the ranks; the first point has the scenario's
  std::optional<int> steps;       ///< of each run; else train.steps if it is set, else sweep_steps
  int repeats = 1;                ///< runs of each point
  RunRequest run;                 ///< communicator, device, clock and threads
  std::string record;             ///< trace file; empty: none
  bool json = false;
};

/// A sweep that has not begun.
struct SweepPlan {
  Sweep sweep;                                     ///< without runs
  std::vector<std::optional<Scenario>> scenarios;  ///< [point]; empty for one that makes no sense
};

/// Which points there are, which of them can run and on which clock. One clock serves all, or they could not be
/// compared: the wall's if every point has a core for each of its ranks' threads (or sleeps), else the device's. A
/// point that makes no sense has its reason. Throws ScenarioError where what was typed means nothing, or no point can
/// run.
SweepPlan plan_sweep(const SweepRequest& request, const ExtraCheck& extra_check = {});

/// Runs it, records each run as it ends, and prints the table; the exit status: 1 if a point was not measured. Repeats
/// go round by round through all points, so that what drifts on the machine meets all of them alike.
int run_sweep(const SweepRequest& request, const ExtraCheck& extra_check = {});

}  // namespace rankscope
