// Verifies a single collective: it is run, and every rank must have the defined result.
#pragma once
#include "engine/prove/verify/verify.hpp"

namespace rankscope {

/// Five steps, each of other numbers. Throws RunFailure where a rank fails for another reason than what it has.
VerifyResult verify_contents(const Scenario& scenario, const RunSettings& settings, const Progress& progress);

}  // namespace rankscope
