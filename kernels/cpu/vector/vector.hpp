// Vectors of the instruction set that a file is compiled for, with loads and stores of every element type.
//
// Files of this folder are compiled once for each instruction set, in a namespace of its name (RANKSCOPE_ISA). They use
// nothing from the standard library that has a body: an inline function of it, compiled for AVX-512, could be the copy
// that the linker keeps for all files.
#pragma once
#ifndef RANKSCOPE_ISA
#error "compiled only through kernels/cpu/CMakeLists.txt, once for each instruction set"
#endif
#include <immintrin.h>

#include "kernels/cpu/loops.hpp"

#define RANKSCOPE_INLINE inline __attribute__((always_inline))

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

typedef float FloatVector __attribute__((vector_size(vector_bytes)));
typedef double DoubleVector __attribute__((vector_size(vector_bytes)));
typedef std::int32_t IntVector __attribute__((vector_size(vector_bytes)));
typedef std::uint32_t WordVector __attribute__((vector_size(vector_bytes)));
typedef std::uint16_t HalfVector __attribute__((vector_size(vector_bytes / 2)));
typedef float HalfFloatVector __attribute__((vector_size(vector_bytes / 2)));

/// Arithmetic type and vector of an element type.
template <class T>
struct Arithmetic {
  using Scalar = float;
  using Vector = FloatVector;
};
template <>
struct Arithmetic<double> {
  using Scalar = double;
  using Vector = DoubleVector;
};
template <class T>
using Scalar = typename Arithmetic<T>::Scalar;
template <class T>
using Vector = typename Arithmetic<T>::Vector;
/// Elements in one vector.
template <class T>
constexpr int lanes = vector_bytes / static_cast<int>(sizeof(Scalar<T>));

/// The used part of a vector: all elements, or the first `count`.
struct Whole {};
struct First {
  int count;
};
template <class T>
constexpr int count_of(Whole) {
  return lanes<T>;
}
template <class T>
constexpr int count_of(First some) {
  return some.count;
}

template <class V, class T>
RANKSCOPE_INLINE V raw_load(const T* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

RANKSCOPE_INLINE DoubleVector load(const double* p, Whole) { return raw_load<DoubleVector>(p); }
RANKSCOPE_INLINE FloatVector load(const float* p, Whole) { return raw_load<FloatVector>(p); }
RANKSCOPE_INLINE FloatVector load(const Bf16* p, Whole) {
  return (FloatVector)(__builtin_convertvector(raw_load<HalfVector>(p), WordVector) << 16);
}

/// Exact. After the shift the exponent bias of fp16 is wrong; the product corrects it, also for subnormal numbers.
RANKSCOPE_INLINE FloatVector load(const F16* p, Whole) {
  const WordVector bits = __builtin_convertvector(raw_load<HalfVector>(p), WordVector);
  const FloatVector size = (FloatVector)((bits & 0x7FFFu) << 13) * 0x1p112f;
  const FloatVector zero = {};
  const WordVector infinite = (WordVector)(size >= zero + 65536.0f) & 0x7F800000u;  // or NaN
  return (FloatVector)((WordVector)size | infinite | ((bits & 0x8000u) << 16));
}

RANKSCOPE_INLINE void store(double* p, DoubleVector v, Whole) { __builtin_memcpy(p, &v, sizeof v); }
RANKSCOPE_INLINE void store(float* p, FloatVector v, Whole) { __builtin_memcpy(p, &v, sizeof v); }
/// Rounds to nearest, ties to even; a NaN stays NaN.
RANKSCOPE_INLINE void store(Bf16* p, FloatVector v, Whole) {
  const WordVector bits = (WordVector)v;
  const WordVector rounded = bits + 0x7FFFu + ((bits >> 16) & 1u);
  const WordVector kept = v == v ? rounded : (bits | 0x400000u);
  const HalfVector half = __builtin_convertvector(kept >> 16, HalfVector);
  __builtin_memcpy(p, &half, sizeof half);
}

/// Rounds to nearest, ties to even; 65520 and more become infinite; a NaN stays NaN.
RANKSCOPE_INLINE void store(F16* p, FloatVector v, Whole) {
  const WordVector bits = (WordVector)v, sign = (bits >> 16) & 0x8000u, size = bits & 0x7FFFFFFFu;
  const FloatVector zero = {};
  // Below 2^-14 the sum with 0.5 leaves the rounded multiple of 2^-24 in the low bits.
  const WordVector small = (WordVector)((FloatVector)size + 0.5f) - 0x3F000000u;
  const WordVector normal = (size + 0xFFFu + ((size >> 13) & 1u) - 0x38000000u) >> 13;
  const FloatVector magnitude = (FloatVector)size;
  WordVector half = magnitude < zero + 0x1p-14f ? small : normal;
  half = magnitude >= zero + 65520.0f ? WordVector{} + 0x7C00u : half;
  half = v == v ? half : WordVector{} + 0x7E00u;
  const HalfVector stored = __builtin_convertvector(half | sign, HalfVector);
  __builtin_memcpy(p, &stored, sizeof stored);
}

/// Missing elements are zero.
template <class T>
RANKSCOPE_INLINE Vector<T> load(const T* p, First some) {
  T whole[lanes<T>] = {};
  for (int i = 0; i < some.count; ++i) whole[i] = p[i];
  return load(whole, Whole{});
}
template <class T>
RANKSCOPE_INLINE void store(T* p, Vector<T> v, First some) {
  T whole[lanes<T>];
  store(whole, v, Whole{});
  for (int i = 0; i < some.count; ++i) p[i] = whole[i];
}

/// Calls body(offset, Whole or First) to cover n elements.
template <class T, class Body>
RANKSCOPE_INLINE void sweep(int64_t n, Body body) {
  int64_t i = 0;
  for (; i + lanes<T> <= n; i += lanes<T>) body(i, Whole{});
  if (i < n) body(i, First{static_cast<int>(n - i)});
}

template <class V>
RANKSCOPE_INLINE auto sum_of(V v) {
  auto sum = v[0];
  for (unsigned i = 1; i < sizeof(V) / sizeof(v[0]); ++i) sum += v[i];
  return sum;
}
template <class V>
RANKSCOPE_INLINE auto greatest_of(V v) {
  auto greatest = v[0];
  for (unsigned i = 1; i < sizeof(V) / sizeof(v[0]); ++i) greatest = v[i] > greatest ? v[i] : greatest;
  return greatest;
}

RANKSCOPE_INLINE FloatVector root_of(FloatVector v) {
  for (int i = 0; i < lanes<float>; ++i) v[i] = __builtin_sqrtf(v[i]);
  return v;
}
RANKSCOPE_INLINE DoubleVector root_of(DoubleVector v) {
  for (int i = 0; i < lanes<double>; ++i) v[i] = __builtin_sqrt(v[i]);
  return v;
}

/// a·b + c with one rounding if the instruction set has such an instruction, else with two: the same in a loop's body
/// and in its remainder. A plain a·b + c may be contracted by the compiler (and in a·b + c·d either product), perhaps
/// differently in two copies of a loop's body. For results that must not depend on how a tensor is divided.
#if defined(__AVX512F__)
RANKSCOPE_INLINE FloatVector fused(FloatVector a, FloatVector b, FloatVector c) {
  return (FloatVector)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
RANKSCOPE_INLINE DoubleVector fused(DoubleVector a, DoubleVector b, DoubleVector c) {
  return (DoubleVector)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
#elif defined(__FMA__)
RANKSCOPE_INLINE FloatVector fused(FloatVector a, FloatVector b, FloatVector c) {
  return (FloatVector)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
RANKSCOPE_INLINE DoubleVector fused(DoubleVector a, DoubleVector b, DoubleVector c) {
  return (DoubleVector)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
#else
RANKSCOPE_INLINE FloatVector fused(FloatVector a, FloatVector b, FloatVector c) { return a * b + c; }
RANKSCOPE_INLINE DoubleVector fused(DoubleVector a, DoubleVector b, DoubleVector c) { return a * b + c; }
#endif
/// The same factor in every lane.
RANKSCOPE_INLINE FloatVector fused(float a, FloatVector b, FloatVector c) { return fused(FloatVector{} + a, b, c); }
RANKSCOPE_INLINE DoubleVector fused(double a, DoubleVector b, DoubleVector c) {
  return fused(DoubleVector{} + a, b, c);
}

/// e to the v. fp32: Cody and Waite's reduction by ln 2 and a polynomial, within 2 units of the last place; zero below
/// -87.3 and capped above 88.3. fp64: the C library's.
RANKSCOPE_INLINE FloatVector exp_of(FloatVector v) {
  const FloatVector zero = {};
  const IntVector tiny = v < zero - 87.3f;
  v = v > zero + 88.3f ? zero + 88.3f : v;
  v = v < zero - 87.3f ? zero - 87.3f : v;
  // Adding and subtracting 1.5·2^23 rounds to the nearest integer, which is then in the low bits.
  const FloatVector shifted = v * 1.44269504088896341f + 12582912.0f;
  const FloatVector n = shifted - 12582912.0f;
  const FloatVector r = (v - n * 0.693145751953125f) - n * 1.42860682e-6f;
  FloatVector p = zero + 1.381459853e-3f;
  p = p * r + 8.368716882e-3f;
  p = p * r + 4.166838805e-2f;
  p = p * r + 1.666652063e-1f;
  p = p * r + 4.999999345e-1f;
  const FloatVector e = (p * r) * r + r + 1.0f;
  const IntVector scale = (((IntVector)shifted - 0x4B400000) + 127) << 23;
  return tiny ? zero : e * (FloatVector)scale;
}
RANKSCOPE_INLINE DoubleVector exp_of(DoubleVector v) {
  for (int i = 0; i < lanes<double>; ++i) v[i] = __builtin_exp(v[i]);
  return v;
}

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
