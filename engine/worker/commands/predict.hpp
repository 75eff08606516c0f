// Predictions as commands print them.
#pragma once
#include "engine/facts/prediction.hpp"

namespace rankscope::command {

/// The scratch memory that the CPU's kernels ask for, added to programs: a rank's memory holds it, too.
void add_scratch(const StepProgram& of, std::span<RankProgram> programs);
/// The report of a step that was predicted on the scenario's cluster.
Report predicted_report(const StepProgram& step);

}  // namespace rankscope::command
