// Initial weights: drawn on the host from the global position of each element, so that they do not depend on the plan.
#pragma once
#include <cstdint>

#include "engine/plan/model/model.hpp"
#include "kernels/tensor/view.hpp"

namespace rankscope {

/// Writes the initial values of elements [first, first + parameter.elements()) of the share of parameter `spec` of the
/// rank with coordinate `tensor` in its tensor group; padding is zero. Normal values are drawn in fp64 from the
/// counter-based generator at (seed, spec.global_offset + index) and then rounded to the view's type, through fp32 if
/// it has 16 bits, so that a master and its copy agree.
void initialise(View parameter, const ParameterSpec& spec, std::uint64_t seed, std::int64_t first = 0, int tensor = 0);

}  // namespace rankscope
