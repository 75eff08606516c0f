// Layer norm, and RMS norm: the same without mean and bias, whose pointers are null. Forward: a warp for each row, which it reads again from the first-level cache. Backward: all gradients in
// one pass if a block of threads can hold a row in its registers; else the gradient of the input as in forward, after
// those of weight and bias.
#include "kernels/cuda/columns.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/ops.hpp"
#include "kernels/cuda/reduce.cuh"

namespace rankscope::kernels::cuda {
namespace {

constexpr int rows_per_block = 4;

__device__ inline int64_t row_of_warp() { return int64_t{blockIdx.x} * rows_per_block + threadIdx.y; }

Geometry warp_a_row(int64_t rows) {
  return {grid_of(pieces_of(rows, rows_per_block)), dim3(warp_size, rows_per_block)};
}

/// y = (x - mean)·rstd·weight + bias. The variance is computed from differences, to avoid cancellation.
template <class T, int V>
__global__ void __launch_bounds__(warp_size* rows_per_block)
    normalise(T* y, Arithmetic<T>* mean, Arithmetic<T>* rstd, const T* x, const T* weight, const T* bias, int64_t rows,
              int64_t width, double epsilon) {
  using A = Arithmetic<T>;
  const int64_t row = row_of_warp(), lane = int64_t{threadIdx.x} * V;
  if (row >= rows) return;
  x += row * width;
  y += row * width;
  A value[V], sum = 0, squares = 0;
  for (int64_t j = lane; j < width; j += warp_size * V) {
    load<V>(value, x + j);
#pragma unroll
    for (int v = 0; v < V; ++v) sum += value[v];
  }
  const A m = mean != nullptr ? warp_sum(sum) / static_cast<A>(width) : A(0);
  for (int64_t j = lane; j < width; j += warp_size * V) {
    load<V>(value, x + j);
#pragma unroll
    for (int v = 0; v < V; ++v) squares += (value[v] - m) * (value[v] - m);
  }
  const A variance = warp_sum(squares) / static_cast<A>(width);
  const A s = A(1) / static_cast<A>(sqrt(static_cast<double>(variance) + epsilon));
  for (int64_t j = lane; j < width; j += warp_size * V) {
    A w[V], b[V] = {};
    load<V>(value, x + j);
    load<V>(w, weight + j);
    if (bias != nullptr) load<V>(b, bias + j);
#pragma unroll
    for (int v = 0; v < V; ++v) value[v] = (value[v] - m) * s * w[v] + b[v];
    store(y + j, value);
  }
  if (threadIdx.x == 0) {
    if (mean != nullptr) mean[row] = m;
    rstd[row] = s;
  }
}

template <class T>
struct NormInputs {
  const T *dy, *x;
  const Arithmetic<T>*mean, *rstd;  ///< no mean: RMS norm
  const T *weight, *residual;
  __device__ Arithmetic<T> mean_of(int64_t row) const { return mean != nullptr ? mean[row] : Arithmetic<T>(0); }
};

/// With n = (x - mean)·rstd and g = dy·weight: dx = rstd·(g - mean(g) - n·mean(g·n)), of RMS norm without mean(g), plus
/// the residual. dx may be any
/// of the tensors from which it is computed.
template <class T, int V>
__global__ void __launch_bounds__(warp_size* rows_per_block)
    input_gradient(T* dx, const NormInputs<T> in, int64_t rows, int64_t width) {
  using A = Arithmetic<T>;
  const int64_t row = row_of_warp(), lane = int64_t{threadIdx.x} * V, from = row * width;
  if (row >= rows) return;
  const A m = in.mean_of(row), s = in.rstd[row];
  A d[V], x[V], w[V], g_sum = 0, gn_sum = 0;
  for (int64_t j = lane; j < width; j += warp_size * V) {
    load<V>(d, in.dy + from + j);
    load<V>(x, in.x + from + j);
    load<V>(w, in.weight + j);
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const A g = d[v] * w[v];
      g_sum += g;
      gn_sum += g * ((x[v] - m) * s);
    }
  }
  const A g_mean = in.mean != nullptr ? warp_sum(g_sum) / static_cast<A>(width) : A(0);
  const A gn_mean = warp_sum(gn_sum) / static_cast<A>(width);
  for (int64_t j = lane; j < width; j += warp_size * V) {
    load<V>(d, in.dy + from + j);
    load<V>(x, in.x + from + j);
    load<V>(w, in.weight + j);
#pragma unroll
    for (int v = 0; v < V; ++v) d[v] = (d[v] * w[v] - g_mean - (x[v] - m) * s * gn_mean) * s;
    if (in.residual != nullptr) {
      A r[V];
      load<V>(r, in.residual + from + j);
#pragma unroll
      for (int v = 0; v < V; ++v) d[v] += r[v];
    }
    store(dx + from + j, d);
  }
}

/// The rows' terms of dweight and dbias.
template <class T>
struct WeightTerms {
  using A = Arithmetic<T>;
  static constexpr int terms = 2;
  NormInputs<T> in;
  int64_t width;
  template <int V>
  __device__ void add(A (&sums)[2][V], int64_t row, int64_t column) const {
    const A m = in.mean_of(row), s = in.rstd[row];
    A d[V], x[V];
    load<V>(d, in.dy + row * width + column);
    load<V>(x, in.x + row * width + column);
#pragma unroll
    for (int v = 0; v < V; ++v) {
      sums[0][v] += d[v] * ((x[v] - m) * s);
      sums[1][v] += d[v];
    }
  }
};

/// A block that holds a row: each thread has one pack of it.
constexpr int most_pass_threads = 512;
/// Rows that such a block processes at once: they share barriers, and all are loaded before the first is used. Two for
/// packs of eight elements, so that they fit the registers.
template <int V>
constexpr int rows_of_pass = V > 4 ? 2 : 4;

/// Sums over a one-dimensional block of complete warps, of n numbers at once; every thread gets them. All threads must
/// call it.
template <int n, class A>
__device__ inline void block_sums(A (&value)[n]) {
  __shared__ A of_warp[most_pass_threads / warp_size][n];
  const int warp = static_cast<int>(threadIdx.x) / warp_size, warps = static_cast<int>(blockDim.x) / warp_size;
#pragma unroll
  for (int i = 0; i < n; ++i) value[i] = warp_sum(value[i]);
  __syncthreads();  // all threads have finished using of_warp
  if (threadIdx.x % warp_size == 0)
#pragma unroll
    for (int i = 0; i < n; ++i) of_warp[warp][i] = value[i];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < n; ++i) value[i] = 0;
  for (int w = 0; w < warps; ++w)
#pragma unroll
    for (int i = 0; i < n; ++i) value[i] += of_warp[w][i];
}

/// V neighbours as stored: for 16-bit elements half the registers of widened ones.
template <class T, int V>
struct Stored {
  Pack<T, V> pack;
  __device__ void read(const T* from, bool present) {
    if (present)
      pack = *reinterpret_cast<const Pack<T, V>*>(from);
    else
#pragma unroll
      for (int v = 0; v < V; ++v) pack.value[v] = narrow<T>(Arithmetic<T>(0));
  }
  __device__ Arithmetic<T> operator[](int v) const { return widen(pack.value[v]); }
};

/// dx of a block's 64 rows, and their terms of dweight and dbias: partial[block][0 and 1][column]. A thread has the
/// same columns of each row. Every element is read once. dx may be any of the tensors from which it is computed.
template <class T, int V>
__global__ void __launch_bounds__(most_pass_threads)
    all_gradients(T* dx, Arithmetic<T>* partial, const NormInputs<T> in, int64_t rows, int64_t width) {
  using A = Arithmetic<T>;
  constexpr int rows_at_once = rows_of_pass<V>;
  const int64_t column = int64_t{threadIdx.x} * V;
  const int64_t first = int64_t{blockIdx.x} * rows_per_partial,
                beyond = lesser<int64_t>(rows, first + rows_per_partial);
  const bool inside = column < width;
  Stored<T, V> weight;
  weight.read(in.weight + column, inside);
  A dweight[V] = {}, dbias[V] = {};
  for (int64_t begin = first; begin < beyond; begin += rows_at_once) {
    Stored<T, V> d[rows_at_once], x[rows_at_once], residual[rows_at_once];
    A m[rows_at_once], s[rows_at_once], sums[2 * rows_at_once];
#pragma unroll
    for (int r = 0; r < rows_at_once; ++r) {
      const bool present = begin + r < beyond;
      const int64_t element = (begin + r) * width + column;
      d[r].read(in.dy + element, inside && present);
      x[r].read(in.x + element, inside && present);
      residual[r].read(at(in.residual, element), inside && present && in.residual != nullptr);
      m[r] = present ? in.mean_of(begin + r) : A(0);
      s[r] = present ? in.rstd[begin + r] : A(0);
    }
#pragma unroll
    for (int r = 0; r < rows_at_once; ++r) {
      A g_sum = 0, gn_sum = 0;
#pragma unroll
      for (int v = 0; v < V; ++v) {
        const A normed = (x[r][v] - m[r]) * s[r], g = d[r][v] * weight[v];
        g_sum += g;
        gn_sum += g * normed;
        dweight[v] += d[r][v] * normed;
        dbias[v] += d[r][v];
      }
      sums[2 * r] = g_sum;
      sums[2 * r + 1] = gn_sum;
    }
    block_sums(sums);
    if (!inside) continue;
#pragma unroll
    for (int r = 0; r < rows_at_once; ++r) {
      if (begin + r >= beyond) break;
      const A g_mean = in.mean != nullptr ? sums[2 * r] / static_cast<A>(width) : A(0);
      const A gn_mean = sums[2 * r + 1] / static_cast<A>(width);
      A out[V];
#pragma unroll
      for (int v = 0; v < V; ++v)
        out[v] = (d[r][v] * weight[v] - g_mean - (x[r][v] - m[r]) * s[r] * gn_mean) * s[r] + residual[r][v];
      store(dx + (begin + r) * width + column, out);
    }
  }
  if (!inside) return;
  store(partial + int64_t{blockIdx.x} * 2 * width + column, dweight);
  store(partial + (int64_t{blockIdx.x} * 2 + 1) * width + column, dbias);
}

}  // namespace

Prepared<View, View, View, View, View, View> norm_forward(const NormSpec& spec, const Options&) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View, View, View, View, View> {
    using A = Arithmetic<T>;
    return {0, [spec](View y, View mean, View rstd, View x, View weight, View bias, const Stream& stream) {
              const bool packed =
                  rows_are_packs(spec.width, pack<T>, 16, {y.data, x.data, weight.data, spec.rms ? nullptr : bias.data});
              launch(packed ? normalise<T, pack<T>> : normalise<T, 1>, warp_a_row(spec.rows), stream, y.as<T>(),
                     spec.rms ? nullptr : mean.as<A>(), rstd.as<A>(), x.as<const T>(), weight.as<const T>(),
                     spec.rms ? nullptr : bias.as<const T>(), spec.rows, spec.width, spec.epsilon);
            }};
  });
}

Prepared<View, View, View, View, View, View, View, View, View> norm_backward(const NormSpec& spec,
                                                                             const Options& options) {
  using Result = Prepared<View, View, View, View, View, View, View, View, View>;
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Result {
    using A = Arithmetic<T>;
    return {
        column_workspace<A>(spec.rows, spec.width, 2),
        [spec, fused = options.fused_norm](View dx, View dweight, View dbias, View dy, View x, View mean, View rstd,
                                           View weight, View residual, const Stream& stream) {
          const NormInputs<T> in{dy.as<const T>(),     x.as<const T>(),
                                 spec.rms ? nullptr : mean.as<const A>(), rstd.as<const A>(),
                                 weight.as<const T>(), spec.residual ? residual.as<const T>() : nullptr};
          const bool packed =
              rows_are_packs(spec.width, pack<T>, 16, {dx.data, dy.data, x.data, weight.data, in.residual});
          const ColumnSums<A, 2> sums{{dweight.as<A>(), spec.rms ? nullptr : dbias.as<A>()}, {spec.accumulate_weight, spec.accumulate_bias}};
          const int each = packed ? pack<T> : 1;
          if (fused && spec.width <= int64_t{each} * most_pass_threads) {
            launch(packed ? all_gradients<T, pack<T>> : all_gradients<T, 1>,
                   {grid_of(pieces_of(spec.rows, rows_per_partial)),
                    dim3(threads_for_row(spec.width, each, most_pass_threads))},
                   stream, dx.as<T>(), reinterpret_cast<A*>(stream.workspace), in, spec.rows, spec.width);
            return sum_column_partials(sums, spec.rows, spec.width, stream);
          }
          // Before dx, which may overwrite dy.
          sum_columns<T>(sums, spec.rows, spec.width, packed, WeightTerms<T>{in, spec.width}, stream);
          launch(packed ? input_gradient<T, pack<T>> : input_gradient<T, 1>, warp_a_row(spec.rows), stream, dx.as<T>(),
                 in, spec.rows, spec.width);
        }};
  });
}

}  // namespace rankscope::kernels::cuda
