// Checks of a scenario with a single collective.
#pragma once
#include <optional>

#include "engine/plan/scenario/check.hpp"
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// Its unsupported options, if any; for other kinds of models, whether it plants a collective's fault.
std::optional<Complaint> collective_complaint(const Scenario& scenario);

}  // namespace rankscope
