// bfloat16 as CUDA names it, on the host.
#pragma once
#include "kernels/tensor/element.hpp"

struct __nv_bfloat16 {
  std::uint16_t bits;
};
inline float __bfloat162float(__nv_bfloat16 x) {
  const std::uint32_t wide = std::uint32_t{x.bits} << 16;
  float value;
  __builtin_memcpy(&value, &wide, sizeof value);
  return value;
}
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return {rankscope::rounded_to_bf16(x)}; }

struct __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return {__float2bfloat16_rn(x), __float2bfloat16_rn(y)};
}
