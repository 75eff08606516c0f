// Passes of a block over a row of logits at any address: a vocabulary is seldom a multiple of a pack. Internal to
// kernels/cuda.
#pragma once
#include <type_traits>

#include "kernels/cuda/reduce.cuh"

namespace rankscope::kernels::cuda {

inline constexpr int most_row_threads = 512;

/// The number of elements of the array that `decltype(values)` refers to.
template <class Values>
inline constexpr int count_of = static_cast<int>(std::extent_v<std::remove_reference_t<Values>>);

template <class A>
__device__ inline A least_value() {
  return -static_cast<A>(INFINITY);
}

/// Elements before the first one at a multiple of 16 bytes, at most n.
template <class T>
__device__ inline int64_t head_of(const T* row, int64_t n) {
  const auto beyond = static_cast<int64_t>(reinterpret_cast<std::uintptr_t>(row) % 16 / sizeof(T));
  return beyond == 0 ? 0 : lesser<int64_t>(n, pack<T> - beyond);
}

/// visit(j, values) for the elements of a row, by the block's threads: complete packs if aligned, single elements
/// before and after them.
template <class T, class Visit>
__device__ inline void for_row(const T* row, int64_t n, Visit visit) {
  constexpr int v = pack<T>;
  const int64_t head = head_of(row, n), packs = (n - head) / v, tail = head + packs * v;
  for (int64_t j = threadIdx.x; j < head; j += blockDim.x) {
    Arithmetic<T> value[1] = {widen(row[j])};
    visit(j, value);
  }
  for (int64_t p = threadIdx.x; p < packs; p += blockDim.x) {
    Arithmetic<T> values[v];
    load<v>(values, row + head + p * v);
    visit(head + p * v, values);
  }
  for (int64_t j = tail + threadIdx.x; j < n; j += blockDim.x) {
    Arithmetic<T> value[1] = {widen(row[j])};
    visit(j, value);
  }
}

/// The same, and the results of `change` are written to `to`, rounded: the row itself, or another row, possibly of
/// another type. Each thread writes the elements that it has read.
template <class To, class From, class Change>
__device__ inline void rewrite_row(To* to, const From* from, int64_t n, Change change) {
  // Whether complete packs of one are as many of the other, aligned.
  const auto place = [](auto* row) { return reinterpret_cast<std::uintptr_t>(row) / sizeof(*row) % pack<From>; };
  if (place(to) == place(from) && reinterpret_cast<std::uintptr_t>(to) % sizeof(To) == 0) {
    for_row(from, n, [&](int64_t j, auto& values) {
      change(j, values);
      store(to + j, values);
    });
  } else {
    for (int64_t j = threadIdx.x; j < n; j += blockDim.x) {
      Arithmetic<From> value[1] = {widen(from[j])};
      change(j, value);
      to[j] = narrow<To>(value[0]);
    }
  }
}

/// A thread's greatest value and the sum of exp(value - greatest), in one pass.
template <class A>
struct RunningSum {
  A top = least_value<A>(), sum = 0;

  template <class Values>
  __device__ void add(const Values& values) {
    constexpr int n = count_of<Values>;
    A next = top;
#pragma unroll
    for (int i = 0; i < n; ++i) next = greater(next, values[i]);
    // Only -inf so far: exp(-inf - -inf) would be NaN.
    if (next == least_value<A>()) return;
    sum *= exp_of(top - next);
#pragma unroll
    for (int i = 0; i < n; ++i) sum += exp_of(values[i] - next);
    top = next;
  }
  /// Relative to a greater value, that of all threads.
  __device__ double sum_below(A all) const {
    return top == least_value<A>()
               ? 0
               : static_cast<double>(sum) * exp(static_cast<double>(top) - static_cast<double>(all));
  }
};

}  // namespace rankscope::kernels::cuda
