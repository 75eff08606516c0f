// kernels/cuda/machine.cuh on the host, from the layouts that the PTX manual gives ("Matrix fragments for mma.m16n8k16
// with floating point type", "ldmatrix").
#pragma once
#include <cmath>
#include <stdexcept>

#include "kernels/cuda/element.cuh"

namespace rankscope::kernels::cuda {

template <class T>
T* shared_memory() {
  return reinterpret_cast<T*>(emulated::shared_memory());
}

using Word = std::uint32_t;

namespace emulation {

template <class T>
float part_of(Word word, int half) {
  T value;
  const auto bits = static_cast<std::uint16_t>(word >> (16 * half));
  std::memcpy(&value, &bits, sizeof bits);
  return widen(value);
}

}  // namespace emulation

template <class T>
Word pack_pair(float first, float second) {
  const T low = narrow<T>(first), high = narrow<T>(second);
  std::uint16_t bits[2];
  std::memcpy(&bits[0], &low, 2);
  std::memcpy(&bits[1], &high, 2);
  return Word{bits[1]} << 16 | bits[0];
}

/// c (16 x 8) += a (16 x 16) · b (16 x 8): every lane passes its fragments, and computes its own four sums from all.
template <class T>
void multiply_add(float (&c)[4], const Word (&a)[4], const Word (&b)[2]) {
  Word mine[6] = {a[0], a[1], a[2], a[3], b[0], b[1]};
  const std::byte* given = emulated::give(mine, sizeof mine);
  const auto word = [&](int lane, int which) {
    Word w;
    std::memcpy(&w, given + static_cast<std::size_t>(lane) * emulated::most_given + which * sizeof(Word), sizeof w);
    return w;
  };
  // Row and column of A are in lane (row % 8)·4 + (column % 8) / 2, register (row / 8) + 2·(column / 8).
  const auto at_a = [&](int row, int k) {
    return emulation::part_of<T>(word(row % 8 * 4 + k % 8 / 2, row / 8 + 2 * (k / 8)), k % 2);
  };
  const auto at_b = [&](int k, int column) {
    return emulation::part_of<T>(word(column * 4 + k % 8 / 2, 4 + k / 8), k % 2);
  };
  const int lane = emulated::lane(), group = lane / 4, quad = lane % 4;
  for (int i = 0; i < 4; ++i) {
    const int row = group + 8 * (i / 2), column = 2 * quad + i % 2;
    for (int k = 0; k < 16; ++k) c[i] += at_a(row, k) * at_b(k, column);
  }
}

/// Four 8 x 8 matrices of 16-bit elements; lane l has the address of row l % 8 of matrix l / 8.
inline void load_matrices(Word (&to)[4], const void* row, bool transposed) {
  if (reinterpret_cast<std::uintptr_t>(row) % 16 != 0) throw std::logic_error("ldmatrix of a row that is not aligned");
  const std::byte* given = emulated::give(&row, sizeof row);
  const auto element = [&](int matrix, int r, int c) {
    const std::uint16_t* begin;
    std::memcpy(&begin, given + static_cast<std::size_t>(8 * matrix + r) * emulated::most_given, sizeof begin);
    return begin[c];
  };
  const int lane = emulated::lane(), group = lane / 4, pair = 2 * (lane % 4);
  for (int m = 0; m < 4; ++m) {
    const Word low = transposed ? element(m, pair, group) : element(m, group, pair);
    const Word high = transposed ? element(m, pair + 1, group) : element(m, group, pair + 1);
    to[m] = high << 16 | low;
  }
}
template <bool transposed>
void load_matrices(Word (&to)[4], const void* row) {
  load_matrices(to, row, transposed);
}

inline void begin_copy(void* shared, const void* global, bool present, std::uintptr_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(shared) % bytes != 0 || reinterpret_cast<std::uintptr_t>(global) % bytes != 0)
    throw std::logic_error("cp.async between addresses that are not aligned to what it copies");
  emulated::begin_copy(shared, present ? global : nullptr, bytes);
}
inline void copy_16_bytes(void* shared, const void* global, bool present) { begin_copy(shared, global, present, 16); }
inline void copy_4_bytes(void* shared, const void* global, bool present) { begin_copy(shared, global, present, 4); }
inline void commit_copies() { emulated::commit_copies(); }
template <int left>
void wait_for_copies() {
  emulated::wait_for_copies(left);
}

inline float power_of_2(float x) { return std::exp2(x); }

}  // namespace rankscope::kernels::cuda
