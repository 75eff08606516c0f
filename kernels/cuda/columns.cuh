// Sums over the rows of a matrix, one for each column: partial sums of 64 rows first, then their sum in order, so that
// the result depends only on the shape. Internal to kernels/cuda.
#pragma once
#include "kernels/cuda/launch.cuh"

namespace rankscope::kernels::cuda {

inline constexpr int column_lanes = 32, column_rows = 8, rows_per_partial = 64;
/// Rows of threads that add up the partial sums of some columns: there are few blocks, and memory latency dominates.
inline constexpr int partial_rows = 32;

/// Sums over the `rows` of threadIdx.y the values of threads with the same columns; the result is valid if threadIdx.y
/// is 0.
template <int rows, class A, int V>
__device__ inline void over_rows(A (&value)[V]) {
  __shared__ A shared[rows][column_lanes * V];
  __syncthreads();
#pragma unroll
  for (int v = 0; v < V; ++v) shared[threadIdx.y][v * column_lanes + threadIdx.x] = value[v];
  __syncthreads();
  if (threadIdx.y != 0) return;
#pragma unroll
  for (int v = 0; v < V; ++v) {
    A sum = 0;
    for (int y = 0; y < rows; ++y) sum += shared[y][v * column_lanes + threadIdx.x];
    value[v] = sum;
  }
}

/// partial[block][s][column] = sum over 64 rows of term s; body.add<V>(sums, row, column) adds the terms of V
/// neighbours.
template <class A, int V, class Body>
__global__ void __launch_bounds__(column_lanes* column_rows)
    column_partials(A* partial, int64_t rows, int64_t width, const Body body) {
  constexpr int terms = Body::terms;
  const int64_t column = (int64_t{blockIdx.y} * column_lanes + threadIdx.x) * V;
  const int64_t first = int64_t{blockIdx.x} * rows_per_partial, last = lesser<int64_t>(rows, first + rows_per_partial);
  A sums[terms][V] = {};
  if (column < width)
    for (int64_t row = first + threadIdx.y; row < last; row += column_rows) body.template add<V>(sums, row, column);
#pragma unroll
  for (int s = 0; s < terms; ++s) {
    over_rows<column_rows>(sums[s]);
    if (threadIdx.y == 0 && column < width)
      store(partial + (int64_t{blockIdx.x} * terms + s) * width + column, sums[s]);
  }
}

/// Sums the results of column_partials into one row of `width` for each term; a term whose sum is null is not needed.
template <class A, int terms>
struct ColumnSums {
  A* sum[terms];
  bool accumulate[terms];
};
template <class A, int terms>
__global__ void __launch_bounds__(column_lanes* partial_rows)
    sum_partials(const A* partial, int64_t blocks, int64_t width, const ColumnSums<A, terms> into) {
  const int64_t column = int64_t{blockIdx.x} * column_lanes + threadIdx.x;
#pragma unroll
  for (int s = 0; s < terms; ++s) {
    A sum[1] = {};
    if (column < width)
      for (int64_t b = threadIdx.y; b < blocks; b += partial_rows) sum[0] += partial[(b * terms + s) * width + column];
    over_rows<partial_rows>(sum);
    if (threadIdx.y == 0 && column < width && into.sum[s] != nullptr)
      into.sum[s][column] = into.accumulate[s] ? into.sum[s][column] + sum[0] : sum[0];
  }
}

template <class A>
constexpr int64_t column_workspace(int64_t rows, int64_t width, int terms) {
  return aligned(pieces_of(rows, rows_per_partial) * terms * width * static_cast<int64_t>(sizeof(A)));
}

/// The second pass: of the partial sums at the workspace's begin.
template <class A, int terms>
void sum_column_partials(const ColumnSums<A, terms>& into, int64_t rows, int64_t width, const Stream& stream) {
  launch(sum_partials<A, terms>, {grid_of(pieces_of(width, column_lanes)), dim3(column_lanes, partial_rows)}, stream,
         reinterpret_cast<const A*>(stream.workspace), pieces_of(rows, rows_per_partial), width, into);
}

/// Both passes. `packed`: rows of all tensors of the body are complete 16-byte packs of T.
template <class T, class Body>
void sum_columns(const ColumnSums<Arithmetic<T>, Body::terms>& into, int64_t rows, int64_t width, bool packed,
                 const Body& body, const Stream& stream) {
  using A = Arithmetic<T>;
  constexpr int v = pack<T>;
  auto* partial = reinterpret_cast<A*>(stream.workspace);
  const int64_t blocks = pieces_of(rows, rows_per_partial);
  const dim3 block(column_lanes, column_rows);
  if (packed)
    launch(column_partials<A, v, Body>, {grid_of(blocks, pieces_of(width, column_lanes * v)), block}, stream, partial,
           rows, width, body);
  else
    launch(column_partials<A, 1, Body>, {grid_of(blocks, pieces_of(width, column_lanes)), block}, stream, partial, rows,
           width, body);
  sum_column_partials(into, rows, width, stream);
}

}  // namespace rankscope::kernels::cuda
