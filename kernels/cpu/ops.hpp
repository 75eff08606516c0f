// How each op is prepared on the CPU: one file per op. The formulas are in kernels/kernel_set.hpp. Internal to
// kernels/cpu; cpu.cpp puts them into the table.
#pragma once
#include "kernels/kernel_set.hpp"

namespace rankscope::kernels::cpu {

// The epilogues of products (kernels/followed_product.hpp).
Prepared<View, View> gelu(const ElementwiseSpec&, const Options&);
Prepared<View, View, View> gelu_slope(const ElementwiseSpec&, const Options&);

// The ops of the table: every function of its entry's type.
RANKSCOPE_OTHER_OPS(RANKSCOPE_DECLARE_OP)
RANKSCOPE_DECLARE_OP(convolution_forward)
RANKSCOPE_DECLARE_OP(convolution_input_gradient)
RANKSCOPE_DECLARE_OP(convolution_weight_gradient)

/// The part of `update` for Adafactor.
Prepared<UpdateStep> adafactor_update(const UpdateSpec&, const Options&);
/// The part for LARS and LAMB.
Prepared<UpdateStep> trust_update(const UpdateSpec&, const Options&);

/// The type of sums, statistics and gradients of parameters: fp64 for fp64, else fp32.
inline DType wide(DType type) { return type == DType::f64 ? DType::f64 : DType::f32; }

/// The element at an index.
inline std::byte* at(const View& view, std::int64_t index) {
  return static_cast<std::byte*>(view.data) + index * bytes_of(view.type);
}
/// The same, null for an empty view.
inline std::byte* at_or_null(const View& view, std::int64_t index) { return view.data ? at(view, index) : nullptr; }

}  // namespace rankscope::kernels::cpu
