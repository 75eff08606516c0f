// How each op is prepared on a GPU: one file per op. The formulas are in kernels/kernel_set.hpp. Internal to
// kernels/cuda; cuda.cpp puts them into the table.
#pragma once
#include "kernels/kernel_set.hpp"

namespace rankscope::kernels::cuda {

// The epilogues of products (kernels/followed_product.hpp).
Prepared<View, View> gelu(const ElementwiseSpec&, const Options&);
Prepared<View, View, View> gelu_slope(const ElementwiseSpec&, const Options&);

// The ops of the table: every function of its entry's type.
RANKSCOPE_OTHER_OPS(RANKSCOPE_DECLARE_OP)
RANKSCOPE_DECLARE_OP(square_norms)

// The parts of `update` with separate kernels: Adafactor's tensors, those whose states are bytes, and those whose step
// is relative to their norm.
Prepared<UpdateStep> adafactor_update(const UpdateSpec&);
Prepared<UpdateStep> trust_update(const UpdateSpec&);
Prepared<UpdateStep> adam8bit_update(const UpdateSpec&);

}  // namespace rankscope::kernels::cuda
