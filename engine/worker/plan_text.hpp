// Plans and reports as text for the terminal, and a plan's last check before anything starts.
#pragma once
#include <string>

#include "engine/explain/analyse/report.hpp"
#include "engine/plan/program/compile.hpp"

namespace rankscope {

/// The grid, the blocks of each rank, and the number of ops of each lane.
std::string plan_text(const StepProgram& step);

/// What this machine has for them; infinite if that is unknown.
double memory_for_ops();

/// Throws PlanError if the ranks' programs need more than that (check_size), or would deadlock.
void check_runs(const StepProgram& step, double most_bytes = memory_for_ops());

}  // namespace rankscope
