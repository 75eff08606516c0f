// Search trials for machines whose plans cannot be folded (a laptop): each plan is compiled and simulated op by op.
#pragma once
#include "engine/explain/facts/prediction.hpp"
#include "engine/predict/search/plan_search.hpp"

namespace rankscope {

/// All plans of the scenario. A plan with too many ops to lay out in tenths of a second is rejected, like one that
/// cannot run. Throws std::invalid_argument if the scenario's data ranks are not identical (a main device, servers).
PlanTrials laid_out_trials(const Scenario& scenario, Prepare prepare = {});

/// Folded if possible, else laid out.
PlanTrials trials_of(const Scenario& scenario, Prepare prepare = {});

}  // namespace rankscope
