// Attention for every type, depth and alignment: tiles of 32 × 32 scores, multiplied and added one by one. 16-bit types
// use a library (attention_library.hpp), or tensor cores (attention_tensor.cuh), if their rows are aligned.
#include "kernels/cuda/attention_task.cuh"

#include <algorithm>
#include <string>

#include "kernels/cuda/attention_library.hpp"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/machine.cuh"
#include "kernels/cuda/ops.hpp"
#include "kernels/cuda/reduce.cuh"

namespace rankscope::kernels::cuda {
namespace {

constexpr int tile = 32, side = 16, per_thread = tile / side;  // a thread has two rows and two columns of the scores
constexpr int threads = side * side;

/// A tile of rows in shared memory; rows are one element longer than the depth, so that a column is in all banks.
template <class A, int D>
struct Rows {
  A* data;
  __device__ A& at(int row, int column) const { return data[row * (D + 1) + column]; }
  static constexpr int elements = tile * (D + 1);

  /// Rows [first, first + tile) of a head, times `factor`; zero outside the context and the depth.
  template <class T>
  __device__ void fill(const T* from, int64_t first, int64_t stride, const AttentionShape& shape, A factor) const {
    for (int i = static_cast<int>(threadIdx.y * side + threadIdx.x); i < tile * D; i += threads) {
      const int row = i / D, column = i % D;
      const bool inside = first + row < shape.context && column < shape.depth;
      at(row, column) = inside ? widen(from[(first + row) * stride + column]) * factor : A(0);
    }
  }
};

template <class A>
struct Scores {
  A* data;
  __device__ A& at(int row, int column) const { return data[row * (tile + 1) + column]; }
  static constexpr int elements = tile * (tile + 1);
};

/// This thread's four elements of left·rightᵀ.
template <class A, int D>
__device__ inline void multiply(A (&product)[per_thread][per_thread], const Rows<A, D>& left, const Rows<A, D>& right) {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
#pragma unroll
  for (int i = 0; i < per_thread; ++i)
#pragma unroll
    for (int j = 0; j < per_thread; ++j) product[i][j] = A(0);
#pragma unroll 8
  for (int d = 0; d < D; ++d) {
    const A left0 = left.at(y, d), left1 = left.at(y + side, d), right0 = right.at(x, d),
            right1 = right.at(x + side, d);
    product[0][0] = fused(left0, right0, product[0][0]);
    product[0][1] = fused(left0, right1, product[0][1]);
    product[1][0] = fused(left1, right0, product[1][0]);
    product[1][1] = fused(left1, right1, product[1][1]);
  }
}

/// A thread's part of a tile of results: rows y and y + 16, every 16th column.
template <class A, int D>
struct Part {
  A value[per_thread][D / side] = {};

  /// += weights·rows, or weightsᵀ·rows.
  template <bool transposed>
  __device__ void add(const Scores<A>& weights, const Rows<A, D>& rows) {
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    for (int k = 0; k < tile; ++k) {
      const A first = transposed ? weights.at(k, y) : weights.at(y, k);
      const A second = transposed ? weights.at(k, y + side) : weights.at(y + side, k);
#pragma unroll
      for (int c = 0; c < D / side; ++c) {
        const A element = rows.at(k, x + c * side);
        value[0][c] = fused(first, element, value[0][c]);
        value[1][c] = fused(second, element, value[1][c]);
      }
    }
  }
  __device__ void scale(int i, A factor) {
#pragma unroll
    for (int c = 0; c < D / side; ++c) value[i][c] *= factor;
  }
  template <class T>
  __device__ void write(T* to, int64_t first, int64_t stride, const AttentionShape& shape, const A (&factor)[2]) const {
#pragma unroll
    for (int i = 0; i < per_thread; ++i) {
      const int64_t row = first + threadIdx.y + i * side;
      if (row >= shape.context) return;
#pragma unroll
      for (int c = 0; c < D / side; ++c) {
        const int column = static_cast<int>(threadIdx.x) + c * side;
        if (column < shape.depth) to[row * stride + column] = narrow<T>(value[i][c] * factor[i]);
      }
    }
  }
};

template <class A>
__device__ inline A minus_infinity() {
  return -static_cast<A>(INFINITY);
}

template <class T, int D>
__global__ void __launch_bounds__(threads)
    attend(T* attended, Arithmetic<T>* log_sum_exp, const T* qkv, const AttentionShape shape, Arithmetic<T> root) {
  using A = Arithmetic<T>;
  A* memory = shared_memory<A>();
  const Rows<A, D> queries{memory}, others{memory + Rows<A, D>::elements};
  const Scores<A> weights{memory + 2 * Rows<A, D>::elements};
  const auto [head, first] = last_tile_first(shape, tile);
  const int64_t stride = shape.row_stride();
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);

  queries.fill(qkv + head.query, first, stride, shape, root);
  Part<A, D> out;
  A top[per_thread] = {minus_infinity<A>(), minus_infinity<A>()}, sum[per_thread] = {};
  for (int64_t begin = 0; begin <= first; begin += tile) {
    __syncthreads();
    others.fill(qkv + head.key, begin, stride, shape, A(1));
    __syncthreads();
    A score[per_thread][per_thread];
    multiply(score, queries, others);
#pragma unroll
    for (int i = 0; i < per_thread; ++i) {
      const int64_t query = first + y + i * side;
#pragma unroll
      for (int j = 0; j < per_thread; ++j) {
        const int64_t key = begin + x + j * side;
        if (key > query || key >= shape.context) score[i][j] = minus_infinity<A>();
      }
      // Every row attends to the first key of every tile, so this is finite.
      const A next = greater(top[i], over_lanes<side>(greater(score[i][0], score[i][1]), Greater{}));
      const A kept = exp_of(top[i] - next);
      top[i] = next;
      score[i][0] = exp_of(score[i][0] - next);
      score[i][1] = exp_of(score[i][1] - next);
      sum[i] = sum[i] * kept + over_lanes<side>(score[i][0] + score[i][1], Plus{});
      out.scale(i, kept);
      weights.at(y + i * side, x) = score[i][0];
      weights.at(y + i * side, x + side) = score[i][1];
    }
    __syncthreads();  // all have read the keys
    others.fill(qkv + head.value, begin, stride, shape, A(1));
    __syncthreads();
    out.template add<false>(weights, others);
  }
  const A inverse[2] = {A(1) / sum[0], A(1) / sum[1]};
  out.write(attended + head.out, first, shape.width, shape, inverse);
  if (x == 0)
    for (int i = 0; i < per_thread; ++i) {
      const int64_t query = first + y + i * side;
      if (query < shape.context)
        log_sum_exp[head.statistic + query] = top[i] + static_cast<A>(log(static_cast<double>(sum[i])));
    }
}

constexpr int dot_lanes = 8, dots_per_block = 32;

/// dots[head][row] = sum over the depth of dattended·attended, eight lanes for each, V neighbours at once.
template <class T, int V>
__global__ void __launch_bounds__(dot_lanes* dots_per_block)
    multiply_rows(Arithmetic<T>* dots, const T* dattended, const T* attended, const AttentionShape shape) {
  const int64_t index = int64_t{blockIdx.x} * dots_per_block + threadIdx.y;
  const bool inside = index < shape.samples * shape.heads * shape.context;
  Arithmetic<T> sum = 0, left[V], right[V];
  if (inside) {
    const int64_t from = place_of(shape, index / shape.context).out + index % shape.context * shape.width;
    for (int64_t d = int64_t{threadIdx.x} * V; d < shape.depth; d += dot_lanes * V) {
      load<V>(left, dattended + from + d);
      load<V>(right, attended + from + d);
#pragma unroll
      for (int v = 0; v < V; ++v) sum += left[v] * right[v];
    }
  }
  sum = over_lanes<dot_lanes>(sum, Plus{});
  if (inside && threadIdx.x == 0) dots[index] = sum;
}

template <class T>
struct Gradients {
  using A = Arithmetic<T>;
  T* dqkv;
  const T *dattended, *qkv;
  const A *log_sum_exp, *dots;
};

/// A backward block's data in shared memory: a tile of queries (times the root) and of the gradients of their results,
/// one of keys and of values, and the scores with their gradients.
template <class T, int D>
struct BackwardTiles {
  using A = Arithmetic<T>;
  static constexpr int n = Rows<A, D>::elements;
  static constexpr std::size_t bytes = (4 * n + 2 * Scores<A>::elements) * sizeof(A);

  const Gradients<T>& of;
  const AttentionShape& shape;
  const HeadPlace& head;
  A* memory = shared_memory<A>();
  Rows<A, D> keys{memory}, values{memory + n}, queries{memory + 2 * n}, dout{memory + 3 * n};
  Scores<A> weights{memory + 4 * n}, dscores{memory + 4 * n + Scores<A>::elements};

  __device__ void fill_keys(int64_t first) const {
    keys.fill(of.qkv + head.key, first, shape.row_stride(), shape, A(1));
    values.fill(of.qkv + head.value, first, shape.row_stride(), shape, A(1));
  }
  __device__ void fill_queries(int64_t first, A root) const {
    queries.fill(of.qkv + head.query, first, shape.row_stride(), shape, root);
    dout.fill(of.dattended + head.out, first, shape.width, shape, A(1));
  }

  /// Probabilities of the tile and the gradients of its scores; zero if a query does not attend to a key.
  __device__ void differentiate(int64_t first_query, int64_t first_key) const {
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    A score[per_thread][per_thread], dweight[per_thread][per_thread];
    multiply(score, queries, keys);
    multiply(dweight, dout, values);
#pragma unroll
    for (int i = 0; i < per_thread; ++i) {
      const int64_t query = first_query + y + i * side;
      const bool inside = query < shape.context;
      const A subtracted = inside ? of.log_sum_exp[head.statistic + query] : A(0);
      const A dot = inside ? of.dots[head.statistic + query] : A(0);
#pragma unroll
      for (int j = 0; j < per_thread; ++j) {
        const int64_t key = first_key + x + j * side;
        const A weight = inside && key <= query ? exp_of(score[i][j] - subtracted) : A(0);
        weights.at(y + i * side, x + j * side) = weight;
        dscores.at(y + i * side, x + j * side) = weight * (dweight[i][j] - dot);
      }
    }
  }
};

template <class T, int D>
__global__ void __launch_bounds__(threads)
    key_value_gradients(const Gradients<T> of, const AttentionShape shape, Arithmetic<T> root) {
  using A = Arithmetic<T>;
  const auto [head, first] = first_tile_first(shape, tile);
  const BackwardTiles<T, D> tiles{of, shape, head};
  tiles.fill_keys(first);
  Part<A, D> dkeys, dvalues;
  for (int64_t begin = first; begin < shape.context; begin += tile) {
    __syncthreads();
    tiles.fill_queries(begin, root);
    __syncthreads();
    tiles.differentiate(begin, first);
    __syncthreads();
    dvalues.template add<true>(tiles.weights, tiles.dout);
    dkeys.template add<true>(tiles.dscores, tiles.queries);  // which contain the root
  }
  const A one[2] = {A(1), A(1)};
  dkeys.write(of.dqkv + head.key, first, shape.row_stride(), shape, one);
  dvalues.write(of.dqkv + head.value, first, shape.row_stride(), shape, one);
}

template <class T, int D>
__global__ void __launch_bounds__(threads)
    query_gradients(const Gradients<T> of, const AttentionShape shape, Arithmetic<T> root) {
  using A = Arithmetic<T>;
  const auto [head, first] = last_tile_first(shape, tile);
  const BackwardTiles<T, D> tiles{of, shape, head};
  tiles.fill_queries(first, root);
  Part<A, D> dqueries;
  for (int64_t begin = 0; begin <= first; begin += tile) {
    __syncthreads();
    tiles.fill_keys(begin);
    __syncthreads();
    tiles.differentiate(first, begin);
    __syncthreads();
    dqueries.template add<false>(tiles.dscores, tiles.keys);
  }
  const A roots[2] = {root, root};
  dqueries.write(of.dqkv + head.query, first, shape.row_stride(), shape, roots);
}

template <class A, int D>
constexpr std::size_t forward_bytes = (2 * Rows<A, D>::elements + Scores<A>::elements) * sizeof(A);

template <class T>
struct PlainAttention {
  using A = Arithmetic<T>;

  static void allow(const AttentionShape& shape) {
    with_depth(shape.depth, [](auto depth) {
      constexpr int D = depth();
      allow_shared_memory(attend<T, D>, forward_bytes<A, D>);
      allow_shared_memory(key_value_gradients<T, D>, BackwardTiles<T, D>::bytes);
      allow_shared_memory(query_gradients<T, D>, BackwardTiles<T, D>::bytes);
    });
  }

  static void forward(const AttentionShape& shape, const ForwardOperands& o, const Stream& stream) {
    with_depth(shape.depth, [&](auto depth) {
      constexpr int D = depth();
      launch(attend<T, D>, {grid_of(shape.all_heads() * shape.tiles(tile)), dim3(side, side), forward_bytes<A, D>},
             stream, static_cast<T*>(o.attended), static_cast<A*>(o.log_sum_exp), static_cast<const T*>(o.qkv), shape,
             static_cast<A>(shape.root()));
    });
  }

  static void dots(const AttentionShape& shape, const BackwardOperands& o, const Stream& stream) {
    const bool packed = rows_are_packs(shape.depth, pack<T>, 16, {o.dattended, o.attended});
    launch(packed ? multiply_rows<T, pack<T>> : multiply_rows<T, 1>,
           {grid_of(pieces_of(shape.all_heads() * shape.context, dots_per_block)), dim3(dot_lanes, dots_per_block)},
           stream, static_cast<A*>(o.dots), static_cast<const T*>(o.dattended), static_cast<const T*>(o.attended),
           shape);
  }

  static void backward(const AttentionShape& shape, const BackwardOperands& o, const Stream& stream) {
    const Gradients<T> of{static_cast<T*>(o.dqkv), static_cast<const T*>(o.dattended), static_cast<const T*>(o.qkv),
                          static_cast<const A*>(o.log_sum_exp), static_cast<const A*>(o.dots)};
    with_depth(shape.depth, [&](auto depth) {
      constexpr int D = depth();
      const Geometry geometry{grid_of(shape.all_heads() * shape.tiles(tile)), dim3(side, side),
                              BackwardTiles<T, D>::bytes};
      const A root = static_cast<A>(shape.root());
      launch(key_value_gradients<T, D>, geometry, stream, of, shape, root);
      launch(query_gradients<T, D>, geometry, stream, of, shape, root);
    });
  }
};

AttentionShape shape_of(const AttentionSpec& spec) {
  if (spec.heads < 1 || spec.width % spec.heads != 0)
    throw Unsupported("attention needs a width that its heads divide; " + std::to_string(spec.width) + " is not " +
                      std::to_string(spec.heads) + " equal parts");
  if (spec.width / spec.heads > greatest_depth)
    throw Unsupported("the kernel set 'cuda' has no attention with heads of " +
                      std::to_string(spec.width / spec.heads) + "; it has up to " + std::to_string(greatest_depth));
  return AttentionShape(spec);
}

template <class T>
constexpr bool has_tensor_cores = sizeof(T) == 2;

template <class T>
bool fits_tensor_cores(const AttentionShape& shape, std::initializer_list<const void*> tensors) {
  return has_tensor_cores<T> && shape.depth % 8 == 0 && rows_are_packs(0, 1, 16, tensors);
}

template <class T>
void allow_all(const AttentionShape& shape, DType type) {
  try {
    PlainAttention<T>::allow(shape);
    if constexpr (has_tensor_cores<T>) TensorAttention<T>::allow(shape);
  } catch (const Unsupported& error) {
    throw Unsupported("the kernel set 'cuda' has no attention in " + std::string(rankscope::name_of(type)) +
                      " with heads of " + std::to_string(shape.depth) + " on this GPU: " + error.what());
  }
}

}  // namespace

Prepared<View, View, View> attention_forward(const AttentionSpec& spec, const Options& options) {
  const AttentionShape shape = shape_of(spec);
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View, View> {
    allow_all<T>(shape, spec.type);
    const LibraryFirst<ForwardOperands> library(spec, options, &AttentionLibrary::forward, "forward");
    return {library.workspace_bytes(), [shape, library, fused = options.fused_attention](
                                           View attended, View log_sum_exp, View qkv, const Stream& stream) {
              const ForwardOperands operands{attended.data, log_sum_exp.data, qkv.data};
              const bool fits = fused && fits_tensor_cores<T>(shape, {attended.data, qkv.data});
              if (library.run(operands, fits && rows_are_packs(0, 1, 16, {log_sum_exp.data}), stream)) return;
              if constexpr (has_tensor_cores<T>)
                if (fits) return TensorAttention<T>::forward(shape, operands, stream);
              PlainAttention<T>::forward(shape, operands, stream);
            }};
  });
}

Prepared<View, View, View, View, View> attention_backward(const AttentionSpec& spec, const Options& options) {
  const AttentionShape shape = shape_of(spec);
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View, View, View, View> {
    allow_all<T>(shape, spec.type);
    const LibraryFirst<BackwardOperands> library(spec, options, &AttentionLibrary::backward, "backward");
    const int64_t dots_bytes = aligned(shape.all_heads() * shape.context * static_cast<int64_t>(sizeof(Arithmetic<T>)));
    return {std::max(dots_bytes, library.workspace_bytes()),
            [shape, library, fused = options.fused_attention](View dqkv, View dattended, View qkv, View log_sum_exp,
                                                              View attended, const Stream& stream) {
              const BackwardOperands operands{dqkv.data,        dattended.data, qkv.data,
                                              log_sum_exp.data, attended.data,  stream.workspace};
              const bool fits = fused && fits_tensor_cores<T>(shape, {dqkv.data, dattended.data, qkv.data});
              if (library.run(operands, fits && rows_are_packs(0, 1, 16, {attended.data, log_sum_exp.data}), stream))
                return;
              PlainAttention<T>::dots(shape, operands, stream);
              if constexpr (has_tensor_cores<T>)
                if (fits) return TensorAttention<T>::backward(shape, operands, stream);
              PlainAttention<T>::backward(shape, operands, stream);
            }};
  });
}

}  // namespace rankscope::kernels::cuda
