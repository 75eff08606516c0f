// Building blocks of attention on tensor cores: tiles in shared memory, a warp's results, and products of
// both. For attention_tensor.cuh.
#pragma once
#include "kernels/cuda/attention_task.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/machine.cuh"

namespace rankscope::kernels::cuda {
namespace {

constexpr int warps = 4, threads = warps * warp_size;
/// Rows of a warp and of a block, if a warp has m groups of 16.
template <int m>
constexpr int rows_of_warp = 16 * m;
template <int m>
constexpr int rows_of_block = warps* rows_of_warp<m>;

/// Rows of a tile in shared memory, D elements and 16 bytes apart, so that the eight rows of a small matrix are in
/// different banks.
template <class T, int D>
struct Tile {
  static constexpr int stride = D + 8;
  T* data;

  __device__ const T* at(int row, int column) const { return data + row * stride + column; }

  /// Starts to copy rows [first, first + count) of a head; zeros outside the context and the depth. A thread's pieces
  /// are in one column, some rows apart: for any number of rows, the addresses cost two additions per piece.
  template <int count>
  __device__ void begin_copy(const T* from, int64_t first, int64_t row_stride, const AttentionShape& shape) const {
    constexpr int per_row = D / 8, apart = threads / per_row, pieces = count / apart;
    static_assert(threads % per_row == 0 && count % apart == 0);
    const int row = static_cast<int>(threadIdx.x) / per_row, column = static_cast<int>(threadIdx.x) % per_row * 8;
    const int present = column < shape.depth ? static_cast<int>(lesser<int64_t>(shape.context - first, count)) : 0;
    const T* piece = from + (first + row) * row_stride + column;
    T* to = data + row * stride + column;
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
      copy_16_bytes(to + i * apart * stride, piece, row + i * apart < present);
      piece += apart * row_stride;
    }
  }

  /// Fragment of the left factor: rows [row, row + 16), columns [column, column + 16).
  __device__ void load_left(Word (&to)[4], int row, int column) const {
    const int lane = static_cast<int>(threadIdx.x) % warp_size, matrix = lane / 8;
    load_matrices<false>(to, at(row + matrix % 2 * 8 + lane % 8, column + matrix / 2 * 8));
  }
  /// Two fragments of a right factor that is stored transposed (its columns are the tile's rows): columns [row, row +
  /// 16) of it, depths [column, column + 16).
  __device__ void load_right_transposed(Word (&to)[4], int row, int column) const {
    const int lane = static_cast<int>(threadIdx.x) % warp_size, matrix = lane / 8;
    load_matrices<false>(to, at(row + matrix / 2 * 8 + lane % 8, column + matrix % 2 * 8));
  }
  /// Two fragments of a right factor that is not transposed: depths [row, row + 16), columns [column, column + 16).
  __device__ void load_right(Word (&to)[4], int row, int column) const {
    const int lane = static_cast<int>(threadIdx.x) % warp_size, matrix = lane / 8;
    load_matrices<true>(to, at(row + matrix % 2 * 8 + lane % 8, column + matrix / 2 * 8));
  }
};

/// A warp's 16·m × 8·n results: value[i][j] are the rows from 16·i and the columns from 8·j.
template <int m, int n>
struct Results {
  float value[m][n][4] = {};

  /// Two neighbours [j] and [j + 1] += left · (two right fragments), for all rows.
  template <class T>
  __device__ void add(int j, const Word (&left)[m][4], const Word (&right)[4]) {
    const Word low[2] = {right[0], right[1]}, high[2] = {right[2], right[3]};
#pragma unroll
    for (int i = 0; i < m; ++i) {
      multiply_add<T>(value[i][j], left[i], low);
      multiply_add<T>(value[i][j + 1], left[i], high);
    }
  }
};

/// The left fragments of columns [16·k, 16·k + 16) of results, rounded to T.
template <class T, int m, int n>
__device__ inline void left_of(Word (&to)[m][4], const Results<m, n>& from, int k) {
#pragma unroll
  for (int i = 0; i < m; ++i) {
    const float(&low)[4] = from.value[i][2 * k], (&high)[4] = from.value[i][2 * k + 1];
    to[i][0] = pack_pair<T>(low[0], low[1]);
    to[i][1] = pack_pair<T>(low[2], low[3]);
    to[i][2] = pack_pair<T>(high[0], high[1]);
    to[i][3] = pack_pair<T>(high[2], high[3]);
  }
}

/// results = rows [row, row + 16·m) of left · rowsᵀ of right.
template <class T, int D, int m, int n>
__device__ inline void multiply_transposed(Results<m, n>& results, const Tile<T, D>& left, int row,
                                           const Tile<T, D>& right) {
#pragma unroll
  for (int k = 0; k < D; k += 16) {
    Word a[m][4];
#pragma unroll
    for (int i = 0; i < m; ++i) left.load_left(a[i], row + 16 * i, k);
#pragma unroll
    for (int j = 0; j < n; j += 2) {
      Word b[4];
      right.load_right_transposed(b, 8 * j, k);
      results.template add<T>(j, a, b);
    }
  }
}

/// results += weights (16·m × 8·n, rounded) · rows of right (8·n × D).
template <class T, int D, int m, int n>
__device__ inline void add_weighted_rows(Results<m, D / 8>& results, const Results<m, n>& weights,
                                         const Tile<T, D>& right) {
#pragma unroll
  for (int k = 0; k < n / 2; ++k) {
    Word a[m][4];
    left_of<T>(a, weights, k);
#pragma unroll
    for (int j = 0; j < D / 8; j += 2) {
      Word b[4];
      right.load_right(b, 16 * k, 8 * j);
      results.template add<T>(j, a, b);
    }
  }
}

/// Stores rows [first_row, …) of a warp's results to memory, each times its factor.
template <class T, int D, int m>
__device__ inline void write_rows(T* to, const Results<m, D / 8>& results, int64_t first_row, int64_t row_stride,
                                  const AttentionShape& shape, const float (&factor)[m][2]) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
#pragma unroll
  for (int i = 0; i < m; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int64_t row = first_row + 16 * i + 8 * half + lane / 4;
      if (row >= shape.context) continue;
#pragma unroll
      for (int j = 0; j < D / 8; ++j) {
        const int column = 8 * j + 2 * (lane % 4);
        const float(&value)[4] = results.value[i][j];
        if (column < shape.depth)
          *reinterpret_cast<Word*>(to + row * row_stride + column) =
              pack_pair<T>(value[2 * half] * factor[i][half], value[2 * half + 1] * factor[i][half]);
      }
    }
}
template <class T, int D, int m>
__device__ inline void write_rows(T* to, const Results<m, D / 8>& results, int64_t first_row, int64_t row_stride,
                                  const AttentionShape& shape, float factor) {
  float all[m][2];
#pragma unroll
  for (int i = 0; i < m; ++i) all[i][0] = all[i][1] = factor;
  write_rows<T, D, m>(to, results, first_row, row_stride, shape, all);
}

template <class T, int D>
constexpr std::size_t tile_bytes(int rows) {
  return static_cast<std::size_t>(rows) * Tile<T, D>::stride * sizeof(T);
}

}  // namespace
}  // namespace rankscope::kernels::cuda
