// What goes together with updates after each micro-batch (schedule "1f1b-async").
#pragma once
#include <optional>

#include "engine/plan/scenario/advice.hpp"
#include "engine/plan/scenario/check.hpp"
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// What a plan of that schedule asks for that there is not, if anything; or what another one asks for that only that
/// schedule has.
std::optional<Complaint> asynchronous_complaint(const Scenario& scenario, const Advisor& advisor);

}  // namespace rankscope
