// Layer norm, forward and backward: a warp for each row, which it reads again from the first cache.
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

/// y = (x - mean)·rstd·weight + bias. The variance from differences, so that it does not cancel.
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
  const A m = warp_sum(sum) / static_cast<A>(width);
  for (int64_t j = lane; j < width; j += warp_size * V) {
    load<V>(value, x + j);
#pragma unroll
    for (int v = 0; v < V; ++v) squares += (value[v] - m) * (value[v] - m);
  }
  const A variance = warp_sum(squares) / static_cast<A>(width);
  const A s = A(1) / static_cast<A>(sqrt(static_cast<double>(variance) + epsilon));
  for (int64_t j = lane; j < width; j += warp_size * V) {
    A w[V], b[V];
    load<V>(value, x + j);
    load<V>(w, weight + j);
    load<V>(b, bias + j);
#pragma unroll
    for (int v = 0; v < V; ++v) value[v] = (value[v] - m) * s * w[v] + b[v];
    store(y + j, value);
  }
  if (threadIdx.x == 0) {
    mean[row] = m;
    rstd[row] = s;
  }
}

template <class T>
struct NormInputs {
  const T *dy, *x;
  const Arithmetic<T>*mean, *rstd;
  const T *weight, *residual;
};

/// With n = (x - mean)·rstd and g = dy·weight: dx = rstd·(g - mean(g) - n·mean(g·n)), plus the residual. dx may be any
/// of the tensors that it is computed from.
template <class T, int V>
__global__ void __launch_bounds__(warp_size* rows_per_block)
    input_gradient(T* dx, const NormInputs<T> in, int64_t rows, int64_t width) {
  using A = Arithmetic<T>;
  const int64_t row = row_of_warp(), lane = int64_t{threadIdx.x} * V, from = row * width;
  if (row >= rows) return;
  const A m = in.mean[row], s = in.rstd[row];
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
  const A g_mean = warp_sum(g_sum) / static_cast<A>(width), gn_mean = warp_sum(gn_sum) / static_cast<A>(width);
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
    const A m = in.mean[row], s = in.rstd[row];
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

}  // namespace

Prepared<View, View, View, View, View, View> norm_forward(const NormSpec& spec, const Options&) {
  return with_type(spec.type, [&](auto tag) -> Prepared<View, View, View, View, View, View> {
    using T = typename decltype(tag)::type;
    using A = Arithmetic<T>;
    return {0, [spec](View y, View mean, View rstd, View x, View weight, View bias, const Stream& stream) {
              const bool packed = rows_are_packs(spec.width, pack<T>, 16, {y.data, x.data, weight.data, bias.data});
              launch(packed ? normalise<T, pack<T>> : normalise<T, 1>, warp_a_row(spec.rows), stream, y.as<T>(),
                     mean.as<A>(), rstd.as<A>(), x.as<const T>(), weight.as<const T>(), bias.as<const T>(), spec.rows,
                     spec.width, spec.epsilon);
            }};
  });
}

Prepared<View, View, View, View, View, View, View, View, View> norm_backward(const NormSpec& spec, const Options&) {
  using Result = Prepared<View, View, View, View, View, View, View, View, View>;
  return with_type(spec.type, [&](auto tag) -> Result {
    using T = typename decltype(tag)::type;
    using A = Arithmetic<T>;
    return {column_workspace<A>(spec.rows, spec.width, 2),
            [spec](View dx, View dweight, View dbias, View dy, View x, View mean, View rstd, View weight, View residual,
                   const Stream& stream) {
              const NormInputs<T> in{dy.as<const T>(),     x.as<const T>(),
                                     mean.as<const A>(),   rstd.as<const A>(),
                                     weight.as<const T>(), spec.residual ? residual.as<const T>() : nullptr};
              const bool packed =
                  rows_are_packs(spec.width, pack<T>, 16, {dx.data, dy.data, x.data, weight.data, in.residual});
              // Before dx, which may take the place of dy.
              sum_columns<T>(
                  ColumnSums<A, 2>{{dweight.as<A>(), dbias.as<A>()}, {spec.accumulate_weight, spec.accumulate_bias}},
                  spec.rows, spec.width, packed, WeightTerms<T>{in, spec.width}, stream);
              launch(packed ? input_gradient<T, pack<T>> : input_gradient<T, 1>, warp_a_row(spec.rows), stream,
                     dx.as<T>(), in, spec.rows, spec.width);
            }};
  });
}

}  // namespace rankscope::kernels::cuda
