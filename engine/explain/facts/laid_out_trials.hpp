// Plans for a search whose machine does not fold (a laptop): each is compiled and laid out, as a prediction is.
#pragma once
#include "engine/explain/facts/prediction.hpp"
#include "engine/predict/search/plan_search.hpp"

namespace rankscope {

/// Whatever the scenario can have. A plan with more ops than are laid out in tenths of a second is refused, as one that
/// cannot run is. Throws std::invalid_argument where the scenario's data ranks are not identical (a main device, servers).
PlanTrials laid_out_trials(const Scenario& scenario, Prepare prepare = {});

/// Folded where they can be, else laid out.
PlanTrials trials_of(const Scenario& scenario, Prepare prepare = {});

}  // namespace rankscope
