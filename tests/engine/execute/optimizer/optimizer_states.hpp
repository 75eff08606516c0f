// The states of a whole parameter under a scenario's optimizer.
#pragma once
#include <vector>

#include "engine/plan/optimizer_rule/rule.hpp"
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

inline std::vector<StateSpec> optimizer_states(const TrainSpec& train, DType parameter_type, const Shape& shape) {
  return states_of(optimizer_rule(train.optimizer),
                   UpdateTarget::whole(parameter_type, accumulation_type(parameter_type), shape));
}

}  // namespace rankscope
