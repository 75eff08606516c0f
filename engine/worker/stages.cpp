#include "engine/worker/stages.hpp"

#include <iostream>

#include "engine/plan/scenario/stage_split.hpp"
#include "engine/prove/calibrate/measured_stages.hpp"

namespace rankscope {

Scenario with_stages(const Scenario& scenario, bool measure, DeviceKind device, int threads) {
  if (stage_split(scenario.plan) != StageSplit::measured) return scenario;
  const SettledStages settled =
      measure ? measure_stages(scenario, open_platform(device, threads)) : model_stages(scenario);
  std::cerr << to_text(settled) << std::endl;
  return settled.scenario;
}

}  // namespace rankscope
