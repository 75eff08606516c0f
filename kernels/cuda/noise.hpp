// Random numbers in device memory, for measurements. Internal to kernels/cuda.
#pragma once
#include <cstdint>

#include "kernels/kernel_set.hpp"

namespace rankscope::kernels::cuda {

/// In [-1, 1), the same at every call. A product of zeros needs less power than others, and may be faster.
void fill_with_noise(void* to, DType type, std::int64_t elements, const Stream& stream);

}  // namespace rankscope::kernels::cuda
