// plan.stages = "measured" at the command line.
#pragma once
#include "engine/plan/scenario/run_choices.hpp"
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// The scenario as it is, or where its stages are to be measured with the list of layers that they become: by a
/// measurement on this machine (of that device, with `threads` threads of the CPU), or else by the cluster's figures.
/// Says on standard error which list, and why. Throws PlanError.
Scenario with_stages(const Scenario& scenario, bool measure, DeviceKind device = DeviceKind::cpu, int threads = 1);

}  // namespace rankscope
