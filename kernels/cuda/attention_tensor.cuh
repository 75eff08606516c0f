// Attention on tensor cores for 16-bit types: a block has four warps, and a warp one or two groups of 16 rows, which
// share the loads of the other operand. Tiles are copied to shared memory asynchronously. Sums, exponentials and
// statistics are fp32; probabilities and the gradients of scores are rounded to T before they are multiplied again.
// Instantiated in attention_bf16.cu and attention_f16.cu.
#pragma once
#include "kernels/cuda/attention_task.cuh"
#include "kernels/cuda/attention_tiles.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/machine.cuh"
#include "kernels/cuda/reduce.cuh"

namespace rankscope::kernels::cuda {
namespace {

/// For numbers that are not NaN, in one instruction.
struct Maximum {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
constexpr float log2_of_e = 1.44269504088896340736f, ln_of_2 = 0.69314718055994530942f;

/// Groups of 16 rows per warp: as many as have results that fit its registers.
template <int D>
constexpr int groups = D <= 64 ? 2 : 1;
/// Keys and values that a forward block processes at once.
constexpr int keys_at_once = 64;

template <class T, int D>
constexpr std::size_t forward_bytes = tile_bytes<T, D>(rows_of_block<groups<D>> + 2 * keys_at_once);

template <class T, int D>
__global__ void __launch_bounds__(threads)
    attend(T* attended, float* log_sum_exp, const T* qkv, const AttentionShape shape, float score_scale) {
  constexpr int m = groups<D>, rows = rows_of_block<m>, stride = Tile<T, D>::stride, columns = keys_at_once / 8;
  T* memory = shared_memory<T>();
  const Tile<T, D> queries{memory}, keys{memory + rows * stride}, values{memory + (rows + keys_at_once) * stride};
  const auto [head, first] = last_tile_first(shape, rows);
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int row = static_cast<int>(threadIdx.x) / warp_size * rows_of_warp<m>;  // the warp's first row in the block

  queries.template begin_copy<rows>(qkv + head.query, first, shape.row_stride(), shape);
  keys.template begin_copy<keys_at_once>(qkv + head.key, 0, shape.row_stride(), shape);
  commit_copies();

  Results<m, D / 8> out;
  float top[m][2], sum[m][2] = {};  // scores times log2(e); sums are this lane's
#pragma unroll
  for (int i = 0; i < m; ++i) top[i][0] = top[i][1] = -INFINITY;
  const int64_t beyond = lesser(shape.context, first + rows);
  for (int64_t begin = 0; begin < beyond; begin += keys_at_once) {
    wait_for_copies<0>();
    __syncthreads();  // the keys have arrived, and no thread needs the last values
    values.template begin_copy<keys_at_once>(qkv + head.value, begin, shape.row_stride(), shape);
    commit_copies();
    const auto before = static_cast<int>(first - begin) + row;  // the number of these keys before the warp's first row
    const bool seen = before + rows_of_warp<m> > 0;
    Results<m, columns> score;
    if (seen) multiply_transposed(score, queries, row, keys);
    wait_for_copies<0>();
    __syncthreads();  // the values have arrived, and no thread needs the keys
    if (begin + keys_at_once < beyond)
      keys.template begin_copy<keys_at_once>(qkv + head.key, begin + keys_at_once, shape.row_stride(), shape);
    commit_copies();
    if (!seen) continue;

    if (before + 1 < keys_at_once) {
      const int last_seen = before + lane / 4 - 2 * (lane % 4);
#pragma unroll
      for (int i = 0; i < m; ++i)
#pragma unroll
        for (int j = 0; j < columns; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e)
            if (8 * j + e % 2 - 16 * i - 8 * (e / 2) > last_seen) score.value[i][j][e] = -INFINITY;
    }
#pragma unroll
    for (int i = 0; i < m; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float greatest = -INFINITY;
#pragma unroll
        for (int j = 0; j < columns; ++j)
#pragma unroll
          for (int e = 2 * half; e < 2 * half + 2; ++e) greatest = fmaxf(greatest, score.value[i][j][e]);
        // Every row attends to a key of the first tile, so this is finite.
        const float next = fmaxf(top[i][half], over_lanes<4>(greatest, Maximum{}) * score_scale);
        const float kept = power_of_2(top[i][half] - next);
        top[i][half] = next;
        sum[i][half] *= kept;
#pragma unroll
        for (int j = 0; j < columns; ++j)
#pragma unroll
          for (int e = 2 * half; e < 2 * half + 2; ++e) {
            float& s = score.value[i][j][e];
            s = power_of_2(fused(s, score_scale, -next));
            sum[i][half] += s;
          }
#pragma unroll
        for (int j = 0; j < D / 8; ++j)
#pragma unroll
          for (int e = 2 * half; e < 2 * half + 2; ++e) out.value[i][j][e] *= kept;
      }
    add_weighted_rows(out, score, values);
  }
#pragma unroll
  for (int i = 0; i < m; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float all = over_lanes<4>(sum[i][half], Plus{});
      const int64_t query = first + row + 16 * i + 8 * half + lane / 4;
      if (lane % 4 == 0 && query < shape.context)
        log_sum_exp[head.statistic + query] = top[i][half] * ln_of_2 + logf(all);
      sum[i][half] = 1 / all;
    }
  write_rows<T, D, m>(attended + head.out, out, first + row, shape.width, shape, sum);
}

template <class T>
struct Gradients {
  T* dqkv;
  const T *dattended, *qkv;
  const float *log_sum_exp, *dots;
};

/// Rows of the other side that a backward block processes at once: registers hold their scores twice.
constexpr int others_at_once = 32;

/// Rows of two tensors used together in a backward block: keys and values, or queries and the gradients of results.
template <class T, int D, int rows>
struct TilePair {
  Tile<T, D> first, second;
  __device__ explicit TilePair(T* memory) : first{memory}, second{memory + rows * Tile<T, D>::stride} {}
  static constexpr int elements = 2 * rows * Tile<T, D>::stride;

  __device__ void begin_copy_keys(const Gradients<T>& of, const AttentionShape& shape, const HeadPlace& head,
                                  int64_t row) const {
    first.template begin_copy<rows>(of.qkv + head.key, row, shape.row_stride(), shape);
    second.template begin_copy<rows>(of.qkv + head.value, row, shape.row_stride(), shape);
  }
  __device__ void begin_copy_queries(const Gradients<T>& of, const AttentionShape& shape, const HeadPlace& head,
                                     int64_t row) const {
    first.template begin_copy<rows>(of.qkv + head.query, row, shape.row_stride(), shape);
    second.template begin_copy<rows>(of.dattended + head.out, row, shape.width, shape);
  }
};

/// A backward block's data in shared memory: its own rows, and two tiles of the others, one of which arrives while the
/// other is used; after them, for tiles of queries, the statistics.
template <class T, int D>
struct BackwardMemory {
  static constexpr int own_rows = rows_of_block<groups<D>>;
  using Own = TilePair<T, D, own_rows>;
  using Others = TilePair<T, D, others_at_once>;
  static constexpr int of_tiles = Own::elements + 2 * Others::elements;
  static constexpr std::size_t bytes = of_tiles * sizeof(T) + 4 * others_at_once * sizeof(float);

  T* memory = shared_memory<T>();
  __device__ Own own() const { return Own(memory); }
  __device__ Others others(int which) const { return Others(memory + Own::elements + which * Others::elements); }
  /// The rows' log-sum-exps, then their dots.
  __device__ float* statistics(int which) const {
    return reinterpret_cast<float*>(memory + of_tiles) + which * 2 * others_at_once;
  }

  __device__ void begin_copy_statistics(int which, const Gradients<T>& of, const AttentionShape& shape,
                                        const HeadPlace& head, int64_t row) const {
    static_assert(2 * others_at_once <= threads);
    const int i = static_cast<int>(threadIdx.x);
    if (i >= 2 * others_at_once) return;
    const float* from = (i < others_at_once ? of.log_sum_exp : of.dots) + head.statistic;
    const int64_t of_row = row + i % others_at_once;
    const bool present = of_row < shape.context;
    copy_4_bytes(statistics(which) + i, present ? from + of_row : from, present);
  }
};

/// For a warp's rows of `own` against all of `other`, value[i][j][e] by value[i][j][e]: probability = exp2(score -
/// subtracted); unless `all_seen`, only those with seen(i, j, e). Column by column, here and below: data that a
/// column's elements share are read once for all rows.
template <class T, int D, int m, int n, class Seen, class Subtracted>
__device__ inline void find_weights(Results<m, n>& weight, const Tile<T, D>& own, int row, const Tile<T, D>& other,
                                    float score_scale, bool all_seen, Seen seen, Subtracted subtracted) {
  multiply_transposed(weight, own, row, other);
#pragma unroll
  for (int j = 0; j < n; ++j)
#pragma unroll
    for (int i = 0; i < m; ++i)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        float& w = weight.value[i][j][e];
        w = power_of_2(fused(w, score_scale, -subtracted(i, j, e)));
      }
  if (all_seen) return;
#pragma unroll
  for (int j = 0; j < n; ++j)
#pragma unroll
    for (int i = 0; i < m; ++i)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        if (!seen(i, j, e)) weight.value[i][j][e] = 0;
}

/// From the gradient of that probability the score's own gradient, minus the row's dot.
template <class T, int D, int m, int n, class Dot>
__device__ inline void find_score_gradients(Results<m, n>& dscore, const Results<m, n>& weight, const Tile<T, D>& own,
                                            int row, const Tile<T, D>& other, Dot dot) {
  multiply_transposed(dscore, own, row, other);
#pragma unroll
  for (int j = 0; j < n; ++j)
#pragma unroll
    for (int i = 0; i < m; ++i)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        float& d = dscore.value[i][j][e];
        d = weight.value[i][j][e] * (d - dot(i, j, e));
      }
}

/// dkey and dvalue of a block's keys: scores are transposed, a warp's rows are keys. Queries outside the context are
/// zeros, and so are their gradients and statistics: they add nothing for any weight.
template <class T, int D>
__global__ void __launch_bounds__(threads)
    key_value_gradients(const Gradients<T> of, const AttentionShape shape, float score_scale, float root) {
  constexpr int m = groups<D>, at_once = others_at_once;
  const BackwardMemory<T, D> memory;
  const Task task = first_tile_first(shape, rows_of_block<m>);
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int row = static_cast<int>(threadIdx.x) / warp_size * rows_of_warp<m>;  // the warp's first row in the block
  const auto keys = memory.own();
  const auto begin_copy = [&](int which, int64_t query) {
    memory.others(which).begin_copy_queries(of, shape, task.head, query);
    memory.begin_copy_statistics(which, of, shape, task.head, query);
    commit_copies();
  };

  keys.begin_copy_keys(of, shape, task.head, task.first);
  begin_copy(0, task.first);
  Results<m, D / 8> dkeys, dvalues;
  int which = 0;
  const auto after = static_cast<int>(shape.context - task.first);  // queries that may attend to keys of the block
  for (int begin = 0; begin < after; begin += at_once, which ^= 1) {
    wait_for_copies<0>();
    __syncthreads();  // these queries have arrived, and no thread needs the previous ones
    if (begin + at_once < after) begin_copy(which ^ 1, task.first + begin + at_once);
    const int before = begin - row;       // the warp's keys before the first query
    if (before + at_once <= 0) continue;  // no query attends to any
    const auto queries = memory.others(which);
    const float *log_sum_exp = memory.statistics(which), *dots = log_sum_exp + at_once;
    const int last_seen = before + 2 * (lane % 4) - lane / 4;
    const auto query = [&](int j, int e) { return 8 * j + 2 * (lane % 4) + e % 2; };
    Results<m, at_once / 8> weight, dscore;
    find_weights(
        weight, keys.first, row, queries.first, score_scale, before + 1 >= rows_of_warp<m>,
        [&](int i, int j, int e) { return 16 * i + 8 * (e / 2) - 8 * j - e % 2 <= last_seen; },
        [&](int, int j, int e) { return log_sum_exp[query(j, e)] * log2_of_e; });
    add_weighted_rows(dvalues, weight, queries.second);
    find_score_gradients(dscore, weight, keys.second, row, queries.second,
                         [&](int, int j, int e) { return dots[query(j, e)]; });
    add_weighted_rows(dkeys, dscore, queries.first);
  }
  write_rows<T, D>(of.dqkv + task.head.key, dkeys, task.first + row, shape.row_stride(), shape, root);
  write_rows<T, D>(of.dqkv + task.head.value, dvalues, task.first + row, shape.row_stride(), shape, 1.0f);
}

/// dquery of a block's queries.
template <class T, int D>
__global__ void __launch_bounds__(threads)
    query_gradients(const Gradients<T> of, const AttentionShape shape, float score_scale, float root) {
  constexpr int m = groups<D>, at_once = others_at_once;
  const BackwardMemory<T, D> memory;
  const Task task = last_tile_first(shape, rows_of_block<m>);
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int row = static_cast<int>(threadIdx.x) / warp_size * rows_of_warp<m>;
  const auto queries = memory.own();
  const auto begin_copy = [&](int which, int64_t key) {
    memory.others(which).begin_copy_keys(of, shape, task.head, key);
    commit_copies();
  };

  queries.begin_copy_queries(of, shape, task.head, task.first);
  begin_copy(0, 0);
  float subtracted[m][2], dot[m][2];
#pragma unroll
  for (int i = 0; i < m; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int64_t query = task.first + row + 16 * i + 8 * half + lane / 4;
      const bool inside = query < shape.context;
      subtracted[i][half] = inside ? of.log_sum_exp[task.head.statistic + query] * log2_of_e : INFINITY;
      dot[i][half] = inside ? of.dots[task.head.statistic + query] : 0.0f;
    }
  Results<m, D / 8> dqueries;
  const int64_t beyond = lesser(shape.context, task.first + rows_of_block<m>);
  int which = 0;
  for (int64_t begin = 0; begin < beyond; begin += at_once, which ^= 1) {
    wait_for_copies<0>();
    __syncthreads();
    if (begin + at_once < beyond) begin_copy(which ^ 1, begin + at_once);
    const auto before = static_cast<int>(task.first - begin) + row;  // these keys before the warp's first query
    if (before + rows_of_warp<m> <= 0) continue;
    const auto keys = memory.others(which);
    const int last_seen = before + lane / 4 - 2 * (lane % 4);
    Results<m, at_once / 8> weight, dscore;
    find_weights(
        weight, queries.first, row, keys.first, score_scale, before + 1 >= at_once,
        [&](int i, int j, int e) { return 8 * j + e % 2 - 16 * i - 8 * (e / 2) <= last_seen; },
        [&](int i, int, int e) { return subtracted[i][e / 2]; });
    find_score_gradients(dscore, weight, queries.second, row, keys.second,
                         [&](int i, int, int e) { return dot[i][e / 2]; });
    add_weighted_rows(dqueries, dscore, keys.first);
  }
  write_rows<T, D>(of.dqkv + task.head.query, dqueries, task.first + row, shape.row_stride(), shape, root);
}

}  // namespace

template <class T>
void TensorAttention<T>::allow(const AttentionShape& shape) {
  with_depth(shape.depth, [](auto depth) {
    constexpr int D = depth();
    allow_shared_memory(attend<T, D>, forward_bytes<T, D>);
    allow_shared_memory(key_value_gradients<T, D>, BackwardMemory<T, D>::bytes);
    allow_shared_memory(query_gradients<T, D>, BackwardMemory<T, D>::bytes);
  });
}

template <class T>
void TensorAttention<T>::forward(const AttentionShape& shape, const ForwardOperands& o, const Stream& stream) {
  with_depth(shape.depth, [&](auto depth) {
    constexpr int D = depth(), rows = rows_of_block<groups<D>>;
    launch(attend<T, D>, {grid_of(shape.all_heads() * shape.tiles(rows)), dim3(threads), forward_bytes<T, D>}, stream,
           static_cast<T*>(o.attended), static_cast<float*>(o.log_sum_exp), static_cast<const T*>(o.qkv), shape,
           static_cast<float>(shape.root()) * log2_of_e);
  });
}

template <class T>
void TensorAttention<T>::backward(const AttentionShape& shape, const BackwardOperands& o, const Stream& stream) {
  const Gradients<T> of{static_cast<T*>(o.dqkv), static_cast<const T*>(o.dattended), static_cast<const T*>(o.qkv),
                        static_cast<const float*>(o.log_sum_exp), static_cast<const float*>(o.dots)};
  with_depth(shape.depth, [&](auto depth) {
    constexpr int D = depth();
    const Geometry geometry{grid_of(shape.all_heads() * shape.tiles(BackwardMemory<T, D>::own_rows)), dim3(threads),
                            BackwardMemory<T, D>::bytes};
    const auto root = static_cast<float>(shape.root());
    launch(key_value_gradients<T, D>, geometry, stream, of, shape, root * log2_of_e, root);
    launch(query_gradients<T, D>, geometry, stream, of, shape, root * log2_of_e, root);
  });
}

}  // namespace rankscope::kernels::cuda
