// The bubble rate as the zero-bubble paper counts it (Qi et al. 2024, arXiv 2401.10241, section 5.2).
#pragma once
#include "engine/predict/layout/simulate.hpp"

namespace rankscope {

/// (cost - work) / cost on the rank with the greatest cost, where cost is the time from the rank's first op of model
/// compute in that step to its last one, and work what these ops take. Waiting for bytes that move counts as bubble
/// here; the optimizer does not count. 0 when the step has no model compute.
double bubble_span(const Simulation& simulation, std::uint32_t step = 0);

}  // namespace rankscope
