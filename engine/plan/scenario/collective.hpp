// Checks of a scenario with a single collective.
#pragma once
#include <optional>

#include "engine/plan/scenario/check.hpp"
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// What it asks for that there is not, if anything; of other kinds of models, whether it is planted a collective's
/// fault.
std::optional<Complaint> collective_complaint(const Scenario& scenario);

}  // namespace rankscope
