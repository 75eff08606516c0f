// Sums of tensors in memory, element by element, in the tensor's own type.
//
// bf16 and fp16 are added in fp32 and rounded to nearest even: once per call, so once per hop of a transparent
// collective and once in total if all addends are available (sum_in_order). i32 and u8 wrap around.
#pragma once
#include <cstdint>
#include <span>

#include "kernels/tensor/type.hpp"

namespace rankscope {

/// into[i] += from[i]. The two do not overlap.
void add_to(DType type, void* into, const void* from, std::int64_t elements);

/// into[i] = parts[0][i] + parts[1][i] + …, in that order. `into` may be one of the parts; at least one part.
void sum_in_order(DType type, void* into, std::span<const void* const> parts, std::int64_t elements);

}  // namespace rankscope
