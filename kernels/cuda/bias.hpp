// Adds a bias to the rows of a product, if the library cannot. Internal to kernels/cuda.
#pragma once
#include <cstdint>

#include "kernels/kernel_set.hpp"

namespace rankscope::kernels::cuda {

/// c[r][j] (result_type) += bias[j] (type), in the type's arithmetic.
void add_bias(void* c, DType result_type, const void* bias, DType type, std::int64_t rows, std::int64_t width,
              const Stream& stream);

}  // namespace rankscope::kernels::cuda
