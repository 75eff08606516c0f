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

/// Default number of steps of each run: enough for a median, in a short time.
inline constexpr int sweep_steps = 20;

/// The user's request.
struct SweepRequest {
  std::string scenario;           ///< a file
  std::vector<Override> set;      ///< the same for all points
  std::vector<std::string> over;  ///< "plan.data=1,2,4", one axis each
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
  std::vector<std::optional<Scenario>> scenarios;  ///< [point]; empty for an invalid one
};

/// The points, which of them can run, and on which clock. One clock is used for all, or they could not be
/// compared: the wall clock if every point has a core for each of its ranks' threads (or sleeps), else the device's. An
/// invalid point has its reason. Throws ScenarioError if the typed text is invalid, or no point can
/// run.
SweepPlan plan_sweep(const SweepRequest& request, const ExtraCheck& extra_check = {});

/// Runs it, records each run at its end, and prints the table; the exit status: 1 if a point was not measured. Repeats
/// run round by round over all points, so that drift of the machine affects all of them equally.
int run_sweep(const SweepRequest& request, const ExtraCheck& extra_check = {});

}  // namespace rankscope
