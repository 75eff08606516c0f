// Updates of many tensors with moments of a byte an element. Internal to kernels/cuda.
#pragma once
#include <vector>

#include "kernels/kernel_set.hpp"

namespace rankscope::kernels::cuda {

/// One launch; every operand has its scales.
Prepared<UpdateNumbers> adam8bit_updates(DType type, const std::vector<UpdateOperand>& operands);

}  // namespace rankscope::kernels::cuda
