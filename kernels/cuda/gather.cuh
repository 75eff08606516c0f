// Rows of embedding matrices: y[r] = token row + position row, and back. Backward adds up the rows of each token in row
// order without atomics: rows of the same token are chained first, and the first row of a chain walks it. Internal to
// kernels/cuda.
#pragma once
#include "kernels/cuda/launch.cuh"

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

/// Bytes of a launch's chains: for every row the next one with the same token, and whether there is one before it.
constexpr int64_t chain_workspace(int64_t rows) { return 2 * aligned(rows * 4); }
struct Chains {
  std::int32_t *next, *is_first;
};
inline Chains chains_in(std::byte* workspace, int64_t rows) {
  return {reinterpret_cast<std::int32_t*>(workspace), reinterpret_cast<std::int32_t*>(workspace + aligned(rows * 4))};
}

/// A block chains as many rows as it has threads, and reads all tokens through shared memory. Templates only so that
/// several files may have them.
template <int threads>
__global__ void __launch_bounds__(threads) chain_rows(const Chains chains, const std::int32_t* token, int64_t rows) {
  __shared__ std::int32_t others[threads];
  const int64_t row = int64_t{blockIdx.x} * threads + threadIdx.x;
  const std::int32_t mine = row < rows ? token[row] : 0;
  std::int32_t next = -1;
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
      if (other < row) is_first = false;
      if (other > row && next < 0) next = static_cast<std::int32_t>(other);
    }
  }
  if (row >= rows) return;
  chains.next[row] = next;
  chains.is_first[row] = is_first ? 1 : 0;
}

/// gradient[row of the token] += sum of dy over the chain that begins with row blockIdx.x.
template <class T, int V>
__global__ void __launch_bounds__(gather_threads)
    add_chains(Arithmetic<T>* gradient, const T* dy, const Words words, const Chains chains, int64_t width) {
  const int64_t first = blockIdx.x, column = (int64_t{blockIdx.y} * gather_threads + threadIdx.x) * V;
  const int64_t into = words.row_of(first);
  if (column >= width || into < 0 || chains.is_first[first] == 0) return;
  Arithmetic<T> sum[V], term[V];
  load<V>(sum, gradient + into * width + column);
  for (int64_t row = first; row >= 0; row = chains.next[row]) {
    load<V>(term, dy + row * width + column);
#pragma unroll
    for (int v = 0; v < V; ++v) sum[v] += term[v];
  }
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
  launch(chain_rows<threads>, {grid_of(pieces_of(rows, threads)), dim3(threads)}, stream, chains, words.token, rows);
  const bool packed = rows_are_packs(width, v, 16, {dwte.data, dy.data});
  launch(packed ? add_chains<T, v> : add_chains<T, 1>, rows_and_columns(rows, width, packed ? v : 1), stream,
         dwte.as<A>(), dy.as<const T>(), words, chains, width);
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
