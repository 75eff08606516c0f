// Plans and reports as text for the terminal, and a plan's last check before anything starts.
#pragma once
#include <string>

#include "engine/base/host/memory.hpp"
#include "engine/explain/analyse/report.hpp"
#include "engine/plan/program/compile.hpp"

namespace rankscope {

/// The grid, the blocks of each rank, and the number of ops of each lane.
std::string plan_text(const StepProgram& step);

/// Throws PlanError if the ranks' programs would deadlock.
void check_runs(const StepProgram& step, double most_bytes = static_cast<double>(available_memory().bytes));

}  // namespace rankscope
