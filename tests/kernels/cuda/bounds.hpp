// Allowed errors of a GPU's results, relative to the greatest expected value.
#pragma once
#include "kernels/tensor/type.hpp"

namespace rankscope::kernels::test {

/// 1e-2 for values stored in 16 bits, 1e-5 for those computed in fp32, 1e-12 in fp64.
inline double gpu_bound(DType computed, DType stored) {
  if (bytes_of(stored) == 2) return 1e-2;
  return computed == DType::f64 ? 1e-12 : 1e-5;
}

}  // namespace rankscope::kernels::test
