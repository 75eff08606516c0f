// Decides what the errors of a parity run prove. For this folder's own files.
#pragma once
#include <optional>

#include "engine/prove/verify/verify.hpp"

namespace rankscope::parity {

/// True if everything is within ParityRun::tolerance: no twin is needed.
bool is_within_tolerance(const ParityRun& run);
/// Sets outcome, reason, growth and judged_steps from `run.errors`. `twin`: the errors of a training of the reference
/// with other roundings, or the worst of several; none if is_within_tolerance.
void judge(ParityRun& run, const std::optional<ParityErrors>& twin);
/// For several runs: different if one is, else not shown if one is.
Outcome outcome_of(const std::vector<ParityRun>& runs);

}  // namespace rankscope::parity
