// Rows of embedding matrices: y[r] = token row + position row, and the gradient. Backward adds up the rows of each
// token without atomics, so that the result is always bit-identical: rows are sorted by token, and a chain is the rows
// of one token in their own order. The block at the first place of a short chain adds it up. For a long one, of a
// common word, that would be a thousand loads one after the other; so each warp of a block adds up a part. Internal to
// kernels/cuda.
#pragma once
#include "kernels/cuda/columns.cuh"
#include "kernels/cuda/sorted_rows.cuh"

namespace rankscope::kernels::cuda {

/// The position of a row.
struct Positions {
  int64_t first_row, context;
  __device__ int64_t row_of(int64_t r) const { return (first_row + r) % context; }
};

inline constexpr int gather_threads = 128;

/// Rows of a short chain, at most.
inline constexpr int longest_walk = 32;
/// Long chains, at most.
constexpr int64_t long_chains(int64_t rows) { return rows / (longest_walk + 1); }
/// A launch's chains.
struct Chains {
  const std::int32_t* rows;  ///< sorted by token
  std::int32_t* length;      ///< of the chain that begins at this place of `rows`; 0 if none does
  std::int32_t* long_at;     ///< the number of long chains, then their first places, in any order
};
constexpr int64_t chain_workspace(int64_t rows) {
  return sort_workspace(rows) + aligned(rows * 4) + aligned((1 + long_chains(rows)) * 4);
}
inline Chains chains_in(std::byte* workspace, int64_t rows) {
  const auto at = [&](int64_t offset) { return reinterpret_cast<std::int32_t*>(workspace + offset); };
  const int64_t sorted = sort_workspace(rows);
  return {sort_space_in(workspace, rows).rows[0], at(sorted), at(sorted + aligned(rows * 4))};
}

/// The place after the last row of the chain that contains `place`.
__device__ inline int64_t end_of_chain(const std::int32_t* rows, const Words& words, int64_t place, int64_t count) {
  const int64_t key = words.key_of(rows[place]);
  int64_t within = place, behind = count;
  while (behind - within > 1) {
    const int64_t middle = within + (behind - within) / 2;
    (words.key_of(rows[middle]) == key ? within : behind) = middle;
  }
  return behind;
}

/// Finds the begin and length of each chain. A template only so that several files may define it.
template <int threads>
__global__ void __launch_bounds__(threads) find_chains(const Chains chains, const Words words, int64_t rows) {
  const int64_t place = int64_t{blockIdx.x} * threads + threadIdx.x;
  if (place >= rows) return;
  const int64_t key = words.key_of(chains.rows[place]);
  const bool begins = key < words.vocabulary && (place == 0 || words.key_of(chains.rows[place - 1]) != key);
  const auto length =
      begins ? static_cast<std::int32_t>(end_of_chain(chains.rows, words, place, rows) - place) : std::int32_t{0};
  chains.length[place] = length;
  if (length > longest_walk) chains.long_at[1 + atomicAdd(chains.long_at, 1)] = static_cast<std::int32_t>(place);
}

/// gradient[row of the token] += sum of dy over the short chain that begins at place blockIdx.x.
template <class T, int V>
__global__ void __launch_bounds__(gather_threads)
    add_chains(Arithmetic<T>* gradient, const T* dy, const Words words, const Chains chains, int64_t width) {
  const int64_t first = blockIdx.x, column = (int64_t{blockIdx.y} * gather_threads + threadIdx.x) * V;
  const std::int32_t length = chains.length[first];
  if (column >= width || length == 0 || length > longest_walk) return;
  const std::int32_t* const row = chains.rows + first;
  const int64_t into = words.row_of(row[0]);
  Arithmetic<T> sum[V], term[V];
  load<V>(sum, gradient + into * width + column);
  for (std::int32_t i = 0; i < length; ++i) {
    load<V>(term, dy + int64_t{row[i]} * width + column);
#pragma unroll
    for (int v = 0; v < V; ++v) sum[v] += term[v];
  }
  store(gradient + into * width + column, sum);
}

/// The same over a long chain. Counted from its first row, each warp has every 32nd run of 32 rows.
template <class T, int V>
__global__ void __launch_bounds__(column_lanes* partial_rows)
    add_long_chains(Arithmetic<T>* gradient, const T* dy, const Words words, const Chains chains, int64_t width) {
  if (static_cast<std::int32_t>(blockIdx.x) >= chains.long_at[0]) return;
  const int64_t place = chains.long_at[1 + blockIdx.x];
  const std::int32_t length = chains.length[place];
  const std::int32_t* const rows = chains.rows + place;
  const std::int32_t first = rows[0];
  const int64_t into = words.row_of(first), column = (int64_t{blockIdx.y} * column_lanes + threadIdx.x) * V;
  Arithmetic<T> sum[V] = {}, term[V];
  for (std::int32_t begin = 0; begin < length; begin += warp_size) {
    const std::int32_t at = begin + static_cast<std::int32_t>(threadIdx.x);
    const std::int32_t row = at < length ? rows[at] : -1;
    const bool own = row >= 0 && (row - first) / warp_size % partial_rows == static_cast<std::int32_t>(threadIdx.y);
    unsigned left = __ballot_sync(0xFFFFFFFFu, own);
    for (; left != 0; left &= left - 1) {
      const std::int32_t one = __shfl_sync(0xFFFFFFFFu, row, __ffs(static_cast<int>(left)) - 1);
      if (column >= width) continue;
      load<V>(term, dy + int64_t{one} * width + column);
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

/// gradient[position] = or += sum of dy over the rows with that position, the first of which are below `context`.
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

/// Rows of T, `v` elements per thread.
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
  sort_rows(sort_space_in(stream.workspace, rows), words, rows, stream);
  launch(find_chains<threads>, {grid_of(pieces_of(rows, threads)), dim3(threads)}, stream, chains, words, rows);
  const bool packed = rows_are_packs(width, v, 16, {dwte.data, dy.data});
  launch(packed ? add_chains<T, v> : add_chains<T, 1>, rows_and_columns(rows, width, packed ? v : 1), stream,
         dwte.as<A>(), dy.as<const T>(), words, chains, width);
  launch(
      packed ? add_long_chains<T, v> : add_long_chains<T, 1>,
      {grid_of(long_chains(rows), pieces_of(width, column_lanes * (packed ? v : 1))), dim3(column_lanes, partial_rows)},
      stream, dwte.as<A>(), dy.as<const T>(), words, chains, width);
}

/// dwpe (wide) = or += rows of dy by their positions; positions without a row are cleared unless accumulating.
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
