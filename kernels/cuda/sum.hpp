// Sums of tensors of several ranks that share a device. Internal to kernels/cuda.
#pragma once
#include <cstdint>
#include <span>

#include "kernels/kernel_set.hpp"

namespace rankscope::kernels::cuda {

/// Queue::sum: into[k][i] = parts[0][i] + parts[1][i] + …, in that order, in fp32 (fp64 of fp64; integers wrap around),
/// rounded once. At most 64 of each.
void sum_parts(DType type, std::span<void* const> into, std::span<const void* const> parts, std::int64_t elements,
               const Stream& stream);

}  // namespace rankscope::kernels::cuda
