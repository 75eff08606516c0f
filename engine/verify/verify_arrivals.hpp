// Verifying asynchronous parameter servers. What such a run does depends on who came when, so there is no one rank to
// compare it with. But given the order in which each server served the contributions of its workers, everything else
// follows: the run is watched, and that order is gone through once more, serially, without servers. For this folder's
// own files.
#pragma once
#include "engine/run/job.hpp"
#include "engine/verify/verify.hpp"

namespace rankscope {

/// Runs the program (StepProgram::arrivals_ahead) for parity::steps steps and compares it with its replay: each
/// contribution's gradients, as the server received them (those of the first `gradient_steps` steps), the losses, and
/// the parameters of servers and workers at the end. Throws RunFailure when the run fails, or when a server has let a
/// worker be further ahead than the bound.
ParityErrors compare_with_arrivals_replayed(const StepProgram& step, RunSettings settings,
                                            std::uint32_t gradient_steps);

}  // namespace rankscope
