// Verifies a single collective: it is run, and every rank must have the defined result.
#pragma once
#include "engine/prove/verify/verify.hpp"

namespace rankscope {

/// Five steps, each with other numbers. Throws RunFailure if a rank fails for a reason other than its result.
VerifyResult verify_contents(const Scenario& scenario, const RunSettings& settings, const Progress& progress);

}  // namespace rankscope
