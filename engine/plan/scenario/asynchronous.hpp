// Checks of what is compatible with updates after each micro-batch (schedule "1f1b-async").
#pragma once
#include <optional>

#include "engine/plan/scenario/advice.hpp"
#include "engine/plan/scenario/check.hpp"
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// Unsupported options of a plan of that schedule, if any; or options of another schedule's plan that only that
/// schedule supports.
std::optional<Complaint> asynchronous_complaint(const Scenario& scenario, const Advisor& advisor);

}  // namespace rankscope
