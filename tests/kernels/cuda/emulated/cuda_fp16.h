// binary16 as CUDA names it, on the host.
#pragma once
#include "kernels/tensor/element.hpp"

struct __half {
  std::uint16_t bits;
};
inline float __half2float(__half x) { return rankscope::widened_from_f16(x.bits); }
inline __half __float2half_rn(float x) { return {rankscope::rounded_to_f16(x)}; }

struct __half2 {
  __half x, y;
};
inline __half2 __floats2half2_rn(float x, float y) { return {__float2half_rn(x), __float2half_rn(y)}; }
