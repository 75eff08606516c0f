// What a model of kind "llama" can be.
#pragma once
#include <optional>

#include "engine/plan/scenario/check.hpp"
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// Nothing for other kinds.
std::optional<Complaint> llama_complaint(const Scenario& scenario);

}  // namespace rankscope
