// Plans and reports as text for the terminal, and a plan's last check before anything starts.
#pragma once
#include <string>

#include "engine/explain/analyse/report.hpp"
#include "engine/plan/program/compile.hpp"

namespace rankscope {

/// The grid, the blocks of each rank, and the number of ops of each lane.
std::string plan_text(const StepProgram& step);

/// Throws PlanError if the ranks' programs would deadlock.
void check_runs(const StepProgram& step);

}  // namespace rankscope
