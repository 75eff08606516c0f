// Attention on tensor cores for 16-bit types: a warp has 16 rows, a block of four warps 64. Tiles of the other operand
// come through shared memory in the background. Sums, exponentials and statistics are fp32; probabilities and the
// gradients of scores are rounded to T where they are multiplied again. Instantiated in attention_bf16.cu and
// attention_f16.cu.
#pragma once
#include "kernels/cuda/attention_task.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/machine.cuh"
#include "kernels/cuda/reduce.cuh"

namespace rankscope::kernels::cuda {
namespace {

constexpr int warps = 4, threads = warps * warp_size, rows_of_warp = 16, rows_of_block = warps * rows_of_warp;
constexpr float log2_of_e = 1.44269504088896340736f, ln_of_2 = 0.69314718055994530942f;

/// Rows of a tile in shared memory, D elements and 16 bytes apart, so that the eight rows of a small matrix lie in
/// different banks.
template <class T, int D>
struct Tile {
  static constexpr int stride = D + 8;
  T* data;

  __device__ const T* at(int row, int column) const { return data + row * stride + column; }

  /// Begins to copy rows [first, first + count) of a head; zeros beyond the context and the depth.
  __device__ void begin_copy(const T* from, int64_t first, int count, int64_t row_stride,
                             const AttentionShape& shape) const {
    constexpr int per_row = D / 8;
    for (int i = static_cast<int>(threadIdx.x); i < count * per_row; i += threads) {
      const int row = i / per_row, column = i % per_row * 8;
      const bool present = first + row < shape.context && column < shape.depth;
      copy_16_bytes(data + row * stride + column, present ? from + (first + row) * row_stride + column : from, present);
    }
  }

  /// Fragment of the left factor: rows [row, row + 16), columns [column, column + 16).
  __device__ void load_left(Word (&to)[4], int row, int column) const {
    const int lane = static_cast<int>(threadIdx.x) % warp_size, matrix = lane / 8;
    load_matrices<false>(to, at(row + matrix % 2 * 8 + lane % 8, column + matrix / 2 * 8));
  }
  /// Two fragments of a right factor that lies transposed, its columns being the tile's rows: columns [row, row + 16)
  /// of it, depths [column, column + 16).
  __device__ void load_right_transposed(Word (&to)[4], int row, int column) const {
    const int lane = static_cast<int>(threadIdx.x) % warp_size, matrix = lane / 8;
    load_matrices<false>(to, at(row + matrix / 2 * 8 + lane % 8, column + matrix % 2 * 8));
  }
  /// Two fragments of a right factor as it lies: depths [row, row + 16), columns [column, column + 16).
  __device__ void load_right(Word (&to)[4], int row, int column) const {
    const int lane = static_cast<int>(threadIdx.x) % warp_size, matrix = lane / 8;
    load_matrices<true>(to, at(row + matrix % 2 * 8 + lane % 8, column + matrix / 2 * 8));
  }
};

/// A warp's 16 × 8·n results: value[j] are the columns from 8·j.
template <int n>
struct Results {
  float value[n][4] = {};

  /// Two neighbours [j] and [j + 1] += left · (two right fragments).
  template <class T>
  __device__ void add(int j, const Word (&left)[4], const Word (&right)[4]) {
    const Word low[2] = {right[0], right[1]}, high[2] = {right[2], right[3]};
    multiply_add<T>(value[j], left, low);
    multiply_add<T>(value[j + 1], left, high);
  }
};

/// The left fragment of columns [16·k, 16·k + 16) of results, rounded to T.
template <class T, int n>
__device__ inline void left_of(Word (&to)[4], const Results<n>& from, int k) {
  to[0] = pack_pair<T>(from.value[2 * k][0], from.value[2 * k][1]);
  to[1] = pack_pair<T>(from.value[2 * k][2], from.value[2 * k][3]);
  to[2] = pack_pair<T>(from.value[2 * k + 1][0], from.value[2 * k + 1][1]);
  to[3] = pack_pair<T>(from.value[2 * k + 1][2], from.value[2 * k + 1][3]);
}

/// results = rows [row, row + 16) of left · rowsᵀ of right.
template <class T, int D, int n>
__device__ inline void multiply_transposed(Results<n>& results, const Tile<T, D>& left, int row,
                                           const Tile<T, D>& right) {
#pragma unroll
  for (int k = 0; k < D; k += 16) {
    Word a[4];
    left.load_left(a, row, k);
#pragma unroll
    for (int j = 0; j < n; j += 2) {
      Word b[4];
      right.load_right_transposed(b, 8 * j, k);
      results.template add<T>(j, a, b);
    }
  }
}

/// results += weights (16 × 8·m, rounded) · rows of right (8·m × D).
template <class T, int D, int m>
__device__ inline void add_weighted_rows(Results<D / 8>& results, const Results<m>& weights, const Tile<T, D>& right) {
#pragma unroll
  for (int k = 0; k < m / 2; ++k) {
    Word a[4];
    left_of<T>(a, weights, k);
#pragma unroll
    for (int j = 0; j < D / 8; j += 2) {
      Word b[4];
      right.load_right(b, 16 * k, 8 * j);
      results.template add<T>(j, a, b);
    }
  }
}

/// Rows [first_row, …) of a warp's results to memory, times a factor for each half.
template <class T, int D>
__device__ inline void write_rows(T* to, const Results<D / 8>& results, int64_t first_row, int64_t row_stride,
                                  const AttentionShape& shape, const float (&factor)[2]) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int64_t row = first_row + lane / 4 + 8 * half;
    if (row >= shape.context) continue;
#pragma unroll
    for (int j = 0; j < D / 8; ++j) {
      const int column = 8 * j + 2 * (lane % 4);
      if (column < shape.depth)
        *reinterpret_cast<Word*>(to + row * row_stride + column) =
            pack_pair<T>(results.value[j][2 * half] * factor[half], results.value[j][2 * half + 1] * factor[half]);
    }
  }
}

template <class T, int D>
constexpr std::size_t tile_bytes(int rows) {
  return static_cast<std::size_t>(rows) * Tile<T, D>::stride * sizeof(T);
}

/// Keys and values that a query block takes at once.
constexpr int keys_at_once = 64;

template <class T, int D>
constexpr std::size_t forward_bytes = tile_bytes<T, D>(rows_of_block + 2 * keys_at_once);

template <class T, int D>
__global__ void __launch_bounds__(threads)
    attend(T* attended, float* log_sum_exp, const T* qkv, const AttentionShape shape, float score_scale) {
  T* memory = shared_memory<T>();
  constexpr int stride = Tile<T, D>::stride, columns = keys_at_once / 8;
  const Tile<T, D> queries{memory}, keys{memory + rows_of_block * stride},
      values{memory + (rows_of_block + keys_at_once) * stride};
  const auto [head, first] = last_tile_first(shape, rows_of_block);
  const int warp = static_cast<int>(threadIdx.x) / warp_size, lane = static_cast<int>(threadIdx.x) % warp_size;
  const int64_t row = first + warp * rows_of_warp + lane / 4;  // and row + 8

  queries.begin_copy(qkv + head.query, first, rows_of_block, shape.row_stride(), shape);
  keys.begin_copy(qkv + head.key, 0, keys_at_once, shape.row_stride(), shape);
  commit_copies();

  Results<D / 8> out;
  float top[2] = {-INFINITY, -INFINITY}, sum[2] = {};  // scores times log2(e); sums are this lane's
  for (int64_t begin = 0; begin <= first; begin += keys_at_once) {
    wait_for_copies<0>();
    __syncthreads();  // the keys are here, and all are done with the last values
    values.begin_copy(qkv + head.value, begin, keys_at_once, shape.row_stride(), shape);
    commit_copies();
    Results<columns> score;
    multiply_transposed(score, queries, warp * rows_of_warp, keys);
    wait_for_copies<0>();
    __syncthreads();  // the values are here, and all are done with the keys
    if (begin + keys_at_once <= first)
      keys.begin_copy(qkv + head.key, begin + keys_at_once, keys_at_once, shape.row_stride(), shape);
    commit_copies();

    const bool diagonal = begin == first;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float next = top[half];
#pragma unroll
      for (int j = 0; j < columns; ++j)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          float& s = score.value[j][2 * half + i];
          s *= score_scale;
          if (diagonal && begin + 8 * j + 2 * (lane % 4) + i > row + 8 * half) s = -INFINITY;
          next = greater(next, s);
        }
      next = over_lanes<4>(next, Greater{});
      const float kept = exp2f(top[half] - next);
      top[half] = next;
      sum[half] *= kept;
#pragma unroll
      for (int j = 0; j < columns; ++j)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          float& s = score.value[j][2 * half + i];
          s = exp2f(s - next);
          sum[half] += s;
        }
#pragma unroll
      for (int j = 0; j < D / 8; ++j) {
        out.value[j][2 * half] *= kept;
        out.value[j][2 * half + 1] *= kept;
      }
    }
    add_weighted_rows(out, score, values);
  }
  float inverse[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    sum[half] = over_lanes<4>(sum[half], Plus{});
    inverse[half] = 1 / sum[half];
    if (lane % 4 == 0 && row + 8 * half < shape.context)
      log_sum_exp[head.statistic + row + 8 * half] = top[half] * ln_of_2 + logf(sum[half]);
  }
  write_rows<T, D>(attended + head.out, out, first + warp * rows_of_warp, shape.width, shape, inverse);
}

template <class T>
struct Gradients {
  T* dqkv;
  const T *dattended, *qkv;
  const float *log_sum_exp, *dots;
};

/// Rows of the other side that a backward block takes at once: registers hold their scores twice.
template <int D>
constexpr int others_at_once = D <= 64 ? 64 : 32;

template <class T, int D>
constexpr std::size_t backward_bytes = tile_bytes<T, D>(2 * rows_of_block + 2 * others_at_once<D>) +
                                       2 * others_at_once<D> * sizeof(float);

/// Rows of two tensors that go together in a backward block: keys and values, or queries and the gradients of results.
template <class T, int D>
struct TilePair {
  Tile<T, D> first, second;
  int rows;
  __device__ TilePair(T* memory, int its_rows)
      : first{memory}, second{memory + its_rows * Tile<T, D>::stride}, rows(its_rows) {}

  __device__ void begin_copy_keys(const Gradients<T>& of, const AttentionShape& shape, const HeadPlace& head,
                                  int64_t row) const {
    first.begin_copy(of.qkv + head.key, row, rows, shape.row_stride(), shape);
    second.begin_copy(of.qkv + head.value, row, rows, shape.row_stride(), shape);
  }
  __device__ void begin_copy_queries(const Gradients<T>& of, const AttentionShape& shape, const HeadPlace& head,
                                     int64_t row) const {
    first.begin_copy(of.qkv + head.query, row, rows, shape.row_stride(), shape);
    second.begin_copy(of.dattended + head.out, row, rows, shape.width, shape);
  }
};

/// What a score's query says: probability = exp2(score - subtracted) where it sees the key, and of the gradient of that
/// the score's own gradient, less the row's dot.
struct QueryTerms {
  bool seen;
  float subtracted, dot;
};

/// A warp's 16 rows of `own` against all of `other`: probabilities and the gradients of scores. terms_of(j, i) of the
/// score at value[j][i].
template <class T, int D, int n, class TermsOf>
__device__ inline void differentiate(Results<n>& weight, Results<n>& dscore, const TilePair<T, D>& own, int row,
                                     const TilePair<T, D>& other, float score_scale, TermsOf terms_of) {
  multiply_transposed(weight, own.first, row, other.first);
  multiply_transposed(dscore, own.second, row, other.second);
#pragma unroll
  for (int j = 0; j < n; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const QueryTerms terms = terms_of(j, i);
      const float w = terms.seen ? exp2f(weight.value[j][i] * score_scale - terms.subtracted) : 0.0f;
      weight.value[j][i] = w;
      dscore.value[j][i] = w * (dscore.value[j][i] - terms.dot);
    }
}

/// dkey and dvalue of 64 keys: scores transposed, a warp's rows being its 16 keys.
template <class T, int D>
__global__ void __launch_bounds__(threads)
    key_value_gradients(const Gradients<T> of, const AttentionShape shape, float score_scale, float root) {
  constexpr int at_once = others_at_once<D>, stride = Tile<T, D>::stride;
  T* memory = shared_memory<T>();
  const TilePair<T, D> keys(memory, rows_of_block), queries(memory + 2 * rows_of_block * stride, at_once);
  auto* subtracted = reinterpret_cast<float*>(memory + (2 * rows_of_block + 2 * at_once) * stride);
  float* dots = subtracted + at_once;
  const Task task = first_tile_first(shape, rows_of_block);
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int row = static_cast<int>(threadIdx.x) / warp_size * rows_of_warp;  // the warp's first one of the block's
  const int64_t key = task.first + row + lane / 4;                           // and key + 8

  keys.begin_copy_keys(of, shape, task.head, task.first);
  Results<D / 8> dkeys, dvalues;
  for (int64_t begin = task.first; begin < shape.context; begin += at_once) {
    __syncthreads();
    queries.begin_copy_queries(of, shape, task.head, begin);
    commit_copies();
    for (int i = static_cast<int>(threadIdx.x); i < at_once; i += threads) {
      const bool inside = begin + i < shape.context;
      const int64_t query = task.head.statistic + begin + i;
      subtracted[i] = inside ? of.log_sum_exp[query] * log2_of_e : INFINITY;  // weighs nothing
      dots[i] = inside ? of.dots[query] : 0.0f;
    }
    wait_for_copies<0>();
    __syncthreads();
    Results<at_once / 8> weight, dscore;
    differentiate(weight, dscore, keys, row, queries, score_scale, [&](int j, int i) {
      const int query = 8 * j + 2 * (lane % 4) + i % 2;
      return QueryTerms{key + 8 * (i / 2) <= begin + query, subtracted[query], dots[query]};
    });
    add_weighted_rows(dvalues, weight, queries.second);
    add_weighted_rows(dkeys, dscore, queries.first);
  }
  const float one[2] = {1.0f, 1.0f}, roots[2] = {root, root};
  write_rows<T, D>(of.dqkv + task.head.key, dkeys, task.first + row, shape.row_stride(), shape, roots);
  write_rows<T, D>(of.dqkv + task.head.value, dvalues, task.first + row, shape.row_stride(), shape, one);
}

/// dquery of 64 queries.
template <class T, int D>
__global__ void __launch_bounds__(threads)
    query_gradients(const Gradients<T> of, const AttentionShape shape, float score_scale, float root) {
  constexpr int at_once = others_at_once<D>;
  T* memory = shared_memory<T>();
  const TilePair<T, D> queries(memory, rows_of_block), keys(memory + 2 * rows_of_block * Tile<T, D>::stride, at_once);
  const Task task = last_tile_first(shape, rows_of_block);
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int row = static_cast<int>(threadIdx.x) / warp_size * rows_of_warp;
  const int64_t query = task.first + row + lane / 4;  // and query + 8

  queries.begin_copy_queries(of, shape, task.head, task.first);
  float subtracted[2], dot[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const bool inside = query + 8 * half < shape.context;
    subtracted[half] = inside ? of.log_sum_exp[task.head.statistic + query + 8 * half] * log2_of_e : INFINITY;
    dot[half] = inside ? of.dots[task.head.statistic + query + 8 * half] : 0.0f;
  }
  Results<D / 8> dqueries;
  for (int64_t begin = 0; begin < task.first + rows_of_block && begin < shape.context; begin += at_once) {
    __syncthreads();
    keys.begin_copy_keys(of, shape, task.head, begin);
    commit_copies();
    wait_for_copies<0>();
    __syncthreads();
    Results<at_once / 8> weight, dscore;
    differentiate(weight, dscore, queries, row, keys, score_scale, [&](int j, int i) {
      const int64_t key = begin + 8 * j + 2 * (lane % 4) + i % 2;
      return QueryTerms{key <= query + 8 * (i / 2), subtracted[i / 2], dot[i / 2]};
    });
    add_weighted_rows(dqueries, dscore, keys.first);
  }
  const float roots[2] = {root, root};
  write_rows<T, D>(of.dqkv + task.head.query, dqueries, task.first + row, shape.row_stride(), shape, roots);
}

}  // namespace

template <class T>
void TensorAttention<T>::allow(const AttentionShape& shape) {
  with_depth(shape.depth, [](auto depth) {
    constexpr int D = depth();
    allow_shared_memory(attend<T, D>, forward_bytes<T, D>);
    allow_shared_memory(key_value_gradients<T, D>, backward_bytes<T, D>);
    allow_shared_memory(query_gradients<T, D>, backward_bytes<T, D>);
  });
}

template <class T>
void TensorAttention<T>::forward(const AttentionShape& shape, const ForwardOperands& o, const Stream& stream) {
  with_depth(shape.depth, [&](auto depth) {
    constexpr int D = depth();
    launch(attend<T, D>, {grid_of(shape.all_heads() * shape.tiles(rows_of_block)), dim3(threads), forward_bytes<T, D>},
           stream, static_cast<T*>(o.attended), static_cast<float*>(o.log_sum_exp), static_cast<const T*>(o.qkv), shape,
           static_cast<float>(shape.root()) * log2_of_e);
  });
}

template <class T>
void TensorAttention<T>::backward(const AttentionShape& shape, const BackwardOperands& o, const Stream& stream) {
  const Gradients<T> of{static_cast<T*>(o.dqkv), static_cast<const T*>(o.dattended), static_cast<const T*>(o.qkv),
                        static_cast<const float*>(o.log_sum_exp), static_cast<const float*>(o.dots)};
  with_depth(shape.depth, [&](auto depth) {
    constexpr int D = depth();
    const Geometry geometry{grid_of(shape.all_heads() * shape.tiles(rows_of_block)), dim3(threads),
                            backward_bytes<T, D>};
    const auto root = static_cast<float>(shape.root());
    launch(key_value_gradients<T, D>, geometry, stream, of, shape, root * log2_of_e, root);
    launch(query_gradients<T, D>, geometry, stream, of, shape, root * log2_of_e, root);
  });
}

}  // namespace rankscope::kernels::cuda
