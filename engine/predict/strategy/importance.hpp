// The effect of each knob alone on a value: first-order Sobol' indices (Sobol' 1993; Saltelli et al. 2008, chapter 4).
//
//   importance(knob) = Var(mean of the value over the points with one and the same setting of the knob) / Var(value)
//
// Exact if every point is known. If only some are, a forest estimates the others first (functional ANOVA of a
// random forest: Hutter, Hoos and Leyton-Brown 2014). If knobs are independent the indices sum to 1 at most, and
// the rest is due to their combinations; if one limits the other (tensor × pipeline × data is the number of ranks) the
// common effect counts for both, and the sum may be above 1.
#pragma once
#include <cstdint>

#include "engine/predict/strategy/forest.hpp"

namespace rankscope {

/// [knob], 0 … 1, of the known points as they are, each counted once; 0 for all if values do not differ.
std::vector<double> first_order_indices(const Space& space, const std::vector<Known>& known);

/// The same of all points of the space, estimated by a forest from `known`; 0 for all if `known` is empty.
std::vector<double> guessed_indices(const Space& space, const std::vector<Known>& known, std::uint64_t seed);

}  // namespace rankscope
