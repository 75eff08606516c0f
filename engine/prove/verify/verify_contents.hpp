// The proof of a collective alone: it is run, and every rank must have what its definition says.
#pragma once
#include "engine/prove/verify/verify.hpp"

namespace rankscope {

/// Five steps, each of other numbers. Throws RunFailure where a rank fails for another reason than what it has.
VerifyResult verify_contents(const Scenario& scenario, const RunSettings& settings, const Progress& progress);

}  // namespace rankscope
