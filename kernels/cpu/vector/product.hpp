// Small matrix products on padded scratch matrices: C = A·B or C += A·B with a block of C in registers.
//
// A(i, k) = a[i·a_row + k·a_step]; B and C are row-major. The rows of C are a multiple of tile_rows and the columns a
// multiple of one vector; both buffers must be that large.
#pragma once
#include "kernels/cpu/vector/vector.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {

#if defined(__AVX512F__)
constexpr int tile_rows = 8;  // with two vectors per row: 16 sums of the 32 registers
#else
constexpr int tile_rows = 4;
#endif
constexpr int tile_vectors = 2;

template <class A>
struct Matrix {
  A* data;
  int64_t row;
};
/// The left factor, by rows (step 1) or transposed (row 1).
template <class A>
struct LeftMatrix {
  const A* data;
  int64_t row, step;
};

template <int vectors, class A>
RANKSCOPE_INLINE void multiply_tile(A* c, int64_t c_row, LeftMatrix<A> a, const A* b, int64_t b_row, int64_t depth,
                                    bool accumulate) {
  constexpr int w = lanes<A>;
  Vector<A> sum[tile_rows][vectors];
  for (int i = 0; i < tile_rows; ++i)
    for (int j = 0; j < vectors; ++j) sum[i][j] = accumulate ? raw_load<Vector<A>>(c + i * c_row + j * w) : Vector<A>{};
  const A* left = a.data;
  for (int64_t k = 0; k < depth; ++k, left += a.step, b += b_row) {
    Vector<A> right[vectors];
    for (int j = 0; j < vectors; ++j) right[j] = raw_load<Vector<A>>(b + j * w);
#pragma GCC unroll 8
    for (int i = 0; i < tile_rows; ++i)
#pragma GCC unroll 2
      for (int j = 0; j < vectors; ++j) sum[i][j] += left[i * a.row] * right[j];
  }
  for (int i = 0; i < tile_rows; ++i)
    for (int j = 0; j < vectors; ++j) store(c + i * c_row + j * w, sum[i][j], Whole{});
}

/// C[rows, columns] = or += A[rows, depth]·B[depth, columns].
template <class A>
void multiply(Matrix<A> c, LeftMatrix<A> a, Matrix<const A> b, int64_t rows, int64_t columns, int64_t depth,
              bool accumulate) {
  constexpr int w = lanes<A>;
  int64_t j = 0;
  for (; j + tile_vectors * w <= columns; j += tile_vectors * w)
    for (int64_t i = 0; i < rows; i += tile_rows)
      multiply_tile<tile_vectors, A>(c.data + i * c.row + j, c.row, {a.data + i * a.row, a.row, a.step}, b.data + j,
                                     b.row, depth, accumulate);
  for (; j < columns; j += w)
    for (int64_t i = 0; i < rows; i += tile_rows)
      multiply_tile<1, A>(c.data + i * c.row + j, c.row, {a.data + i * a.row, a.row, a.step}, b.data + j, b.row, depth,
                          accumulate);
}

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
