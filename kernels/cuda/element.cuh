// Elements on the device: the types in memory, the type that each is computed in, and loads and stores of several
// neighbours at once. T is the element type (double, float, Bf16, F16); A, the arithmetic type, is double for double
// and float for the others. Internal to kernels/cuda.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "kernels/cuda/access.cuh"
#include "kernels/kernel_set.hpp"

namespace rankscope::kernels::cuda {

using std::int64_t;
using Bf16 = __nv_bfloat16;
using F16 = __half;

template <class T>
struct ArithmeticOf {
  using type = float;
};
template <>
struct ArithmeticOf<double> {
  using type = double;
};
template <class T>
using Arithmetic = typename ArithmeticOf<T>::type;

__device__ inline double widen(double x) { return x; }
__device__ inline float widen(float x) { return x; }
__device__ inline float widen(Bf16 x) { return __bfloat162float(x); }
__device__ inline float widen(F16 x) { return __half2float(x); }

template <class T>
struct Narrow {
  __device__ static T of(T x) { return x; }
};
template <>
struct Narrow<Bf16> {
  __device__ static Bf16 of(float x) { return __float2bfloat16_rn(x); }
};
template <>
struct Narrow<F16> {
  __device__ static F16 of(float x) { return __float2half_rn(x); }
};
/// Rounded to nearest, ties to even.
template <class T>
__device__ inline T narrow(Arithmetic<T> x) {
  return Narrow<T>::of(x);
}

__device__ inline float exp_of(float x) { return expf(x); }
__device__ inline double exp_of(double x) { return exp(x); }
__device__ inline float root_of(float x) { return sqrtf(x); }
__device__ inline double root_of(double x) { return sqrt(x); }
__device__ inline float fused(float a, float b, float c) { return fmaf(a, b, c); }
__device__ inline double fused(double a, double b, double c) { return fma(a, b, c); }
template <class N>
__device__ inline N lesser(N a, N b) {
  return b < a ? b : a;
}
template <class N>
__device__ inline N greater(N a, N b) {
  return a < b ? b : a;
}

/// Elements of one 16-byte access.
template <class T>
inline constexpr int pack = 16 / static_cast<int>(sizeof(T));

template <class T, int V>
struct alignas(sizeof(T) * V < 16 ? sizeof(T) * V : 16) Pack {
  T value[V];
};

/// V neighbours, widened; `from` must be aligned to all of them, or to 16 bytes.
template <int V, class T>
__device__ inline void load(Arithmetic<T> (&to)[V], const T* from) {
  const auto all = *reinterpret_cast<const Pack<T, V>*>(from);
#pragma unroll
  for (int i = 0; i < V; ++i) to[i] = widen(all.value[i]);
}
/// Two 16-bit elements in a word, the first in its low half.
template <class T>
__device__ inline std::uint32_t pair_of(float first, float second) {
  std::uint32_t word;
  if constexpr (std::is_same_v<T, Bf16>) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
    std::memcpy(&word, &pair, sizeof word);
  } else {
    const __half2 pair = __floats2half2_rn(first, second);
    std::memcpy(&word, &pair, sizeof word);
  }
  return word;
}
/// V neighbours, rounded; `to` aligned as above.
template <int V, class T>
__device__ inline void store(T* to, const Arithmetic<T> (&from)[V]) {
  if constexpr (V == 1) {
    *to = narrow<T>(from[0]);
  } else {
    constexpr int bytes = V * static_cast<int>(sizeof(T)), words = bytes < 16 ? 2 : 4, elements = 4 * words / sizeof(T);
    static_assert(bytes % (4 * words) == 0);
#pragma unroll
    for (int first = 0; first < V; first += elements) {
      std::uint32_t some[words];
      if constexpr (sizeof(T) == 2) {
#pragma unroll
        for (int i = 0; i < words; ++i) some[i] = pair_of<T>(from[first + 2 * i], from[first + 2 * i + 1]);
      } else {
        std::memcpy(some, from + first, sizeof some);
      }
      store_words(to + first, some);
    }
  }
}

template <class T>
struct Tag {};
/// Calls body(Tag<T>) for the element type.
template <class Body>
auto with_type(DType type, Body body) {
  switch (type) {
    case DType::f64: return body(Tag<double>{});
    case DType::f32: return body(Tag<float>{});
    case DType::bf16: return body(Tag<Bf16>{});
    case DType::f16: return body(Tag<F16>{});
    case DType::i32:
    case DType::u8: break;
  }
  throw Unsupported("the kernel set 'cuda' computes in fp64, fp32, bf16 and fp16, not in " +
                    std::string(rankscope::name_of(type)));
}

/// The type of arithmetic, sums and statistics.
constexpr DType wide(DType type) { return type == DType::f64 ? DType::f64 : DType::f32; }

}  // namespace rankscope::kernels::cuda
