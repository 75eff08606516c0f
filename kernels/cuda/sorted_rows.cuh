// Rows of tokens sorted by token, rows of the same token in their own order: a radix sort, eight bits per pass, whose
// work is linear in rows. It does not depend on the order of atomics, so the result is always the same. Internal to
// kernels/cuda.
#pragma once
#include <bit>

#include "kernels/cuda/launch.cuh"

namespace rankscope::kernels::cuda {

/// The matrix row of a row's token: tokens of [first, first + vocabulary).
struct Words {
  const std::int32_t* token;
  int64_t first, vocabulary;
  __device__ int64_t row_of(int64_t r) const {
    const int64_t row = token[r] - first;
    return row >= 0 && row < vocabulary ? row : -1;
  }
  /// The key by which rows are sorted: tokens of other matrices are last.
  __device__ int64_t key_of(int64_t r) const {
    const int64_t row = row_of(r);
    return row < 0 ? vocabulary : row;
  }
};

inline constexpr int digit_bits = 8, digits = 1 << digit_bits;
/// Rows that a block sorts in a pass: equal to its number of threads, and to the number of digits.
inline constexpr int sort_tile = digits;

/// Passes over keys of [0, vocabulary].
constexpr int sort_passes(int64_t vocabulary) {
  return (std::bit_width(static_cast<std::uint64_t>(vocabulary)) + digit_bits - 1) / digit_bits;
}

/// The workspace of a sort.
struct SortSpace {
  std::int32_t* rows[2];  ///< the result, and that of the previous pass
  std::int32_t* places;   ///< [digit][tile]: the number of rows, then the first place among the digit's rows
  std::int32_t* totals;   ///< [digit]
};
constexpr int64_t sort_workspace(int64_t rows) {
  return 2 * aligned(rows * 4) + aligned(pieces_of(rows, sort_tile) * digits * 4) + aligned(digits * 4);
}
inline SortSpace sort_space_in(std::byte* workspace, int64_t rows) {
  const auto at = [&](int64_t offset) { return reinterpret_cast<std::int32_t*>(workspace + offset); };
  const int64_t of_rows = aligned(rows * 4), of_places = aligned(pieces_of(rows, sort_tile) * digits * 4);
  return {{at(0), at(of_rows)}, at(2 * of_rows), at(2 * of_rows + of_places)};
}

/// The sum over the warp's lanes before this one; `all` gets that of all lanes. All of them must call it.
__device__ inline std::int32_t sum_of_lanes_before(std::int32_t value, std::int32_t& all) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  std::int32_t sum = value;
#pragma unroll
  for (int distance = 1; distance < warp_size; distance *= 2) {
    const std::int32_t more = __shfl_sync(0xFFFFFFFFu, sum, lane < distance ? lane : lane - distance);
    if (lane >= distance) sum += more;
  }
  all = __shfl_sync(0xFFFFFFFFu, sum, warp_size - 1);
  return sum - value;
}

/// A row of a pass, and the digit of its key by which the pass sorts.
struct SortPass {
  Words words;
  const std::int32_t* rows;  ///< of the previous pass; null: in their own order
  int64_t count;
  int shift;
  __device__ std::int32_t row_at(int64_t place) const {
    return rows == nullptr ? static_cast<std::int32_t>(place) : rows[place];
  }
  __device__ int digit_of(std::int32_t row) const { return static_cast<int>(words.key_of(row) >> shift) % digits; }
};

// Templates only so that several files may define them.

/// places[digit][tile] = number of the tile's rows with the digit.
template <int threads>
__global__ void __launch_bounds__(threads) count_digits(std::int32_t* places, const SortPass pass) {
  __shared__ std::int32_t count[digits];
  const int64_t place = int64_t{blockIdx.x} * threads + threadIdx.x;
  count[threadIdx.x] = 0;
  __syncthreads();
  if (place < pass.count) atomicAdd(&count[pass.digit_of(pass.row_at(place))], 1);
  __syncthreads();
  places[int64_t{threadIdx.x} * gridDim.x + blockIdx.x] = count[threadIdx.x];
}

/// A warp for each digit: counts become sums of the tiles before, and their sum the digit's total.
template <int threads>
__global__ void __launch_bounds__(threads) sum_digits(std::int32_t* places, std::int32_t* totals, int64_t tiles) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int digit = static_cast<int>(blockIdx.x * threads + threadIdx.x) / warp_size;
  places += digit * tiles;
  std::int32_t before = 0, all = 0;
  for (int64_t begin = 0; begin < tiles; begin += warp_size) {
    const int64_t tile = begin + lane;
    const std::int32_t sum = before + sum_of_lanes_before(tile < tiles ? places[tile] : 0, all);
    if (tile < tiles) places[tile] = sum;
    before += all;
  }
  if (lane == 0) totals[digit] = before;
}

/// Moves every row to its place: after those of lesser digits, of previous tiles, and before it in its tile.
template <int threads>
__global__ void __launch_bounds__(threads)
    place_rows(std::int32_t* sorted, const std::int32_t* places, const std::int32_t* totals, const SortPass pass) {
  __shared__ std::int32_t first_of[digits];
  __shared__ std::int32_t digit_of[threads];
  __shared__ std::int32_t of_warp[threads / warp_size];
  const int thread = static_cast<int>(threadIdx.x), warp = thread / warp_size;
  const int64_t place = int64_t{blockIdx.x} * threads + thread;
  std::int32_t all = 0;
  std::int32_t first = sum_of_lanes_before(totals[thread], all);
  if (thread % warp_size == 0) of_warp[warp] = all;
  const std::int32_t row = place < pass.count ? pass.row_at(place) : 0;
  const int digit = place < pass.count ? pass.digit_of(row) : digits;
  digit_of[thread] = digit;
  __syncthreads();
  for (int w = 0; w < warp; ++w) first += of_warp[w];
  first_of[thread] = first + places[int64_t{threadIdx.x} * gridDim.x + blockIdx.x];
  __syncthreads();
  if (place >= pass.count) return;
  std::int32_t before = 0;
#pragma unroll 8
  for (int other = 0; other < thread; ++other) before += digit_of[other] == digit ? 1 : 0;
  sorted[first_of[digit] + before] = row;
}

/// Enqueues the sort of `rows` rows; the result is in `space.rows[0]`.
inline void sort_rows(const SortSpace& space, const Words& words, int64_t rows, const Stream& stream) {
  const int passes = sort_passes(words.vocabulary);
  const int64_t tiles = pieces_of(rows, sort_tile);
  const Geometry of_tiles{grid_of(tiles), dim3(sort_tile)};
  const std::int32_t* from = nullptr;
  for (int p = 0; p < passes; ++p) {
    std::int32_t* const to = space.rows[(passes - 1 - p) % 2];
    const SortPass pass{words, from, rows, p * digit_bits};
    launch(count_digits<sort_tile>, of_tiles, stream, space.places, pass);
    launch(sum_digits<sort_tile>, {grid_of(digits * warp_size / sort_tile), dim3(sort_tile)}, stream, space.places,
           space.totals, tiles);
    launch(place_rows<sort_tile>, of_tiles, stream, to, space.places, space.totals, pass);
    from = to;
  }
}

}  // namespace rankscope::kernels::cuda
