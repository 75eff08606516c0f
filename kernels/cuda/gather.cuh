// Rows of embedding matrices: y[r] = token row + position row, and back. Backward adds up the rows of each token
// without atomics, so that the bits are always the same: rows of the same token are chained first, and the first row of
// a short chain walks it. Of a long one, as common words have, which would be a thousand loads that wait for each
// other, a block looks for the rows with all its warps. Internal to kernels/cuda.
#pragma once
#include "kernels/cuda/columns.cuh"

namespace rankscope::kernels::cuda {

/// Where a row's token has its row in the matrix: tokens of [first, first + vocabulary).
struct Words {
  const std::int32_t* token;
  int64_t first, vocabulary;
  __device__ int64_t row_of(int64_t r) const {
    const int64_t row = token[r] - first;
    return row >= 0 && row < vocabulary ? row : -1;
  }
};
/// Which position a row has.
struct Positions {
  int64_t first_row, context;
  __device__ int64_t row_of(int64_t r) const { return (first_row + r) % context; }
};

inline constexpr int gather_threads = 128;

/// Rows of a chain that is walked, at most.
inline constexpr int longest_walk = 32;
/// Longer ones, at most.
constexpr int64_t long_chains(int64_t rows) { return rows / (longest_walk + 1); }
/// A launch's chains.
struct Chains {
  std::int32_t* next;     ///< of every row: the next one with the same token
  std::int32_t* length;   ///< of the chain that begins with the row; 0 where there is one before it
  std::int32_t* long_at;  ///< how many long chains there are, then their first rows, in any order
};
constexpr int64_t chain_workspace(int64_t rows) { return 2 * aligned(rows * 4) + aligned((1 + long_chains(rows)) * 4); }
inline Chains chains_in(std::byte* workspace, int64_t rows) {
  const auto at = [&](int which) { return reinterpret_cast<std::int32_t*>(workspace + which * aligned(rows * 4)); };
  return {at(0), at(1), at(2)};
}

/// A block chains as many rows as it has threads, and reads all tokens through shared memory. Templates only so that
/// several files may have them.
template <int threads>
__global__ void __launch_bounds__(threads) chain_rows(const Chains chains, const std::int32_t* token, int64_t rows) {
  __shared__ std::int32_t others[threads];
  const int64_t row = int64_t{blockIdx.x} * threads + threadIdx.x;
  const std::int32_t mine = row < rows ? token[row] : 0;
  std::int32_t next = -1, length = 0;
  bool is_first = true;
  for (int64_t begin = 0; begin < rows; begin += threads) {
    __syncthreads();
    if (begin + threadIdx.x < rows) others[threadIdx.x] = token[begin + threadIdx.x];
    __syncthreads();
    const int count = static_cast<int>(lesser<int64_t>(threads, rows - begin));
#pragma unroll 8
    for (int i = 0; i < count; ++i) {
      if (others[i] != mine) continue;
      const int64_t other = begin + i;
      ++length;
      if (other < row) is_first = false;
      if (other > row && next < 0) next = static_cast<std::int32_t>(other);
    }
  }
  if (row >= rows) return;
  chains.next[row] = next;
  chains.length[row] = is_first ? length : 0;
  if (is_first && length > longest_walk)
    chains.long_at[1 + atomicAdd(chains.long_at, 1)] = static_cast<std::int32_t>(row);
}

/// gradient[row of the token] += sum of dy over the short chain that begins with row blockIdx.x.
template <class T, int V>
__global__ void __launch_bounds__(gather_threads)
    add_chains(Arithmetic<T>* gradient, const T* dy, const Words words, const Chains chains, int64_t width) {
  const int64_t first = blockIdx.x, column = (int64_t{blockIdx.y} * gather_threads + threadIdx.x) * V;
  const int64_t into = words.row_of(first);
  const std::int32_t length = chains.length[first];
  if (column >= width || into < 0 || length == 0 || length > longest_walk) return;
  Arithmetic<T> sum[V], term[V];
  load<V>(sum, gradient + into * width + column);
  for (int64_t row = first; row >= 0; row = chains.next[row]) {
    load<V>(term, dy + row * width + column);
#pragma unroll
    for (int v = 0; v < V; ++v) sum[v] += term[v];
  }
  store(gradient + into * width + column, sum);
}

/// The same over a long chain, of which each warp has every 32nd run of 32 rows.
template <class T, int V>
__global__ void __launch_bounds__(column_lanes* partial_rows)
    add_long_chains(Arithmetic<T>* gradient, const T* dy, const Words words, const Chains chains, int64_t rows,
                    int64_t width) {
  if (static_cast<std::int32_t>(blockIdx.x) >= chains.long_at[0]) return;
  const int64_t first = chains.long_at[1 + blockIdx.x], into = words.row_of(first);
  if (into < 0) return;
  const int64_t column = (int64_t{blockIdx.y} * column_lanes + threadIdx.x) * V;
  const std::int32_t mine = words.token[first];
  Arithmetic<T> sum[V] = {}, term[V];
  for (int64_t begin = first + threadIdx.y * warp_size; begin < rows; begin += partial_rows * warp_size) {
    const int64_t own = begin + threadIdx.x;
    const int same = own < rows && words.token[own] == mine ? 1 : 0;
    for (int i = 0; i < warp_size; ++i) {
      if (__shfl_sync(0xFFFFFFFFu, same, i) == 0 || column >= width) continue;
      load<V>(term, dy + (begin + i) * width + column);
#pragma unroll
      for (int v = 0; v < V; ++v) sum[v] += term[v];
    }
  }
  over_rows<partial_rows>(sum);
  if (threadIdx.y != 0 || column >= width) return;
  load<V>(term, gradient + into * width + column);
#pragma unroll
  for (int v = 0; v < V; ++v) sum[v] += term[v];
  store(gradient + into * width + column, sum);
}

/// gradient[position] = or += sum of dy over the rows that have it, the first of which are below `context`.
template <class T, int V>
__global__ void __launch_bounds__(gather_threads)
    add_positions(Arithmetic<T>* gradient, const T* dy, const Positions positions, int64_t rows, int64_t width,
                  bool accumulate) {
  const int64_t first = blockIdx.x, column = (int64_t{blockIdx.y} * gather_threads + threadIdx.x) * V;
  if (column >= width) return;
  const int64_t into = positions.row_of(first);
  Arithmetic<T> sum[V] = {}, term[V];
  if (accumulate) load<V>(sum, gradient + into * width + column);
  for (int64_t row = first; row < rows; row += positions.context) {
    load<V>(term, dy + row * width + column);
#pragma unroll
    for (int v = 0; v < V; ++v) sum[v] += term[v];
  }
  store(gradient + into * width + column, sum);
}

/// Rows of T, `v` elements a thread.
inline Geometry rows_and_columns(int64_t rows, int64_t width, int v) {
  return {grid_of(rows, pieces_of(width, gather_threads * v)), dim3(gather_threads)};
}

/// dwte (wide) = or += rows of dy by their tokens. Needs chain_workspace(rows).
template <class T>
void token_gradient(View dwte, View dy, const Words& words, int64_t rows, int64_t width, bool accumulate,
                    const Stream& stream) {
  using A = Arithmetic<T>;
  constexpr int threads = 256, v = pack<T>;
  if (!accumulate) clear(dwte.data, words.vocabulary * width * static_cast<int64_t>(sizeof(A)), stream);
  const Chains chains = chains_in(stream.workspace, rows);
  clear(chains.long_at, 4, stream);
  launch(chain_rows<threads>, {grid_of(pieces_of(rows, threads)), dim3(threads)}, stream, chains, words.token, rows);
  const bool packed = rows_are_packs(width, v, 16, {dwte.data, dy.data});
  launch(packed ? add_chains<T, v> : add_chains<T, 1>, rows_and_columns(rows, width, packed ? v : 1), stream,
         dwte.as<A>(), dy.as<const T>(), words, chains, width);
  launch(
      packed ? add_long_chains<T, v> : add_long_chains<T, 1>,
      {grid_of(long_chains(rows), pieces_of(width, column_lanes * (packed ? v : 1))), dim3(column_lanes, partial_rows)},
      stream, dwte.as<A>(), dy.as<const T>(), words, chains, rows, width);
}

/// dwpe (wide) = or += rows of dy by their positions; positions that no row has are cleared when not accumulating.
template <class T>
void position_gradient(View dwpe, View dy, const Positions& positions, int64_t rows, int64_t width, bool accumulate,
                       const Stream& stream) {
  using A = Arithmetic<T>;
  constexpr int v = pack<T>;
  if (!accumulate && rows < positions.context)
    clear(dwpe.data, positions.context * width * static_cast<int64_t>(sizeof(A)), stream);
  const bool packed = rows_are_packs(width, v, 16, {dwpe.data, dy.data});
  const int64_t firsts = rows < positions.context ? rows : positions.context;
  launch(packed ? add_positions<T, v> : add_positions<T, 1>, rows_and_columns(firsts, width, packed ? v : 1), stream,
         dwpe.as<A>(), dy.as<const T>(), positions, rows, width, accumulate);
}

}  // namespace rankscope::kernels::cuda
