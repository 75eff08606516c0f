// plan.stages = "measured" at the command line.
#pragma once
#include "engine/plan/scenario/run_choices.hpp"
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// The unchanged scenario, or, if its stages are to be measured, the scenario with the resulting list of layers: by a
/// measurement on this machine (of that device, with `threads` threads of the CPU), or else by the cluster's figures.
/// Reports the list and the reason on standard error. Throws PlanError.
Scenario with_stages(const Scenario& scenario, bool measure, DeviceKind device = DeviceKind::cpu, int threads = 1);

}  // namespace rankscope
