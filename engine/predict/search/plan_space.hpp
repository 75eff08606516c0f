// Plans as points of a space: the keys of a plan that a search can choose.
#pragma once
#include "engine/plan/scenario/scenario.hpp"
#include "engine/predict/strategy/space.hpp"

namespace rankscope {

/// Knobs named as in settings_of, with their occurring values; point i is plans[i].
Space plan_space(const std::vector<PlanSpec>& plans);

/// `plan` with these values of the knobs. Throws std::invalid_argument for a knob or a value that a plan does not have.
PlanSpec with_values(PlanSpec plan, const std::vector<Knob>& knobs, std::span<const int> values);

}  // namespace rankscope
