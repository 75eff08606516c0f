// Batch norm, forward and backward, with the residual and the ReLU that follow it: sums over rows as in columns.cuh,
// then a thread for each few elements.
#include "kernels/cuda/columns.cuh"
#include "kernels/cuda/ops.hpp"
#include "kernels/cuda/windows.cuh"

namespace rankscope::kernels::cuda {
namespace {

template <class T>
struct ChannelSum {
  static constexpr int terms = 1;
  const T* x;
  int64_t channels;
  template <int V>
  __device__ void add(Arithmetic<T> (&sums)[1][V], int64_t row, int64_t channel) const {
    Arithmetic<T> value[V];
    load<V>(value, x + row * channels + channel);
#pragma unroll
    for (int v = 0; v < V; ++v) sums[0][v] += value[v];
  }
};

/// Squares of differences from the mean, `share` of each sum, so that the variance has no cancellation.
template <class T>
struct SquareSum {
  using A = Arithmetic<T>;
  static constexpr int terms = 1;
  const T* x;
  const A* sum;
  int64_t channels;
  A share;
  template <int V>
  __device__ void add(A (&sums)[1][V], int64_t row, int64_t channel) const {
    A value[V], of_channel[V];
    load<V>(value, x + row * channels + channel);
    load<V>(of_channel, sum + channel);
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const A d = value[v] - of_channel[v] * share;
      sums[0][v] += d * d;
    }
  }
};

/// Computes mean and rstd from the stored sums.
template <class A>
struct Statistics {
  A *mean, *rstd;
  A share;
  double epsilon;
  template <int V>
  __device__ void apply(int64_t first) const {
    for (int64_t i = first; i < first + V; ++i) {
      mean[i] *= share;
      rstd[i] = A(1) / static_cast<A>(sqrt(static_cast<double>(rstd[i] * share) + epsilon));
    }
  }
};

template <class T>
struct Normalise {
  using A = Arithmetic<T>;
  T* y;
  const A *mean, *rstd;
  const T *x, *weight, *bias, *residual;  ///< residual may be null
  int64_t channels;
  bool relu;
  template <int V>
  __device__ void apply(int64_t i) const {
    const int64_t c = i % channels;
    A value[V], m[V], s[V], w[V], b[V], r[V] = {};
    load<V>(value, x + i);
    load<V>(m, mean + c);
    load<V>(s, rstd + c);
    load<V>(w, weight + c);
    load<V>(b, bias + c);
    if (residual != nullptr) load<V>(r, residual + i);
#pragma unroll
    for (int v = 0; v < V; ++v) {
      value[v] = (value[v] - m[v]) * (s[v] * w[v]) + b[v] + r[v];
      if (relu && value[v] < A(0)) value[v] = A(0);  // a NaN stays NaN
    }
    store(y + i, value);
  }
};

template <class T>
struct GradientInputs {
  using A = Arithmetic<T>;
  const T *dy, *y, *x;  ///< y is null without ReLU
  const A *mean, *rstd;
  const T* weight;
  int64_t channels;
  /// dy where ReLU was active.
  template <int V>
  __device__ void open(A (&g)[V], int64_t i) const {
    load<V>(g, dy + i);
    if (y == nullptr) return;
    A value[V];
    load<V>(value, y + i);
#pragma unroll
    for (int v = 0; v < V; ++v)
      if (value[v] == A(0)) g[v] = A(0);
  }
};

template <class T>
struct GradientSums {
  using A = Arithmetic<T>;
  static constexpr int terms = 2;
  GradientInputs<T> in;
  template <int V>
  __device__ void add(A (&sums)[2][V], int64_t row, int64_t channel) const {
    A g[V], x[V], m[V], s[V];
    in.open(g, row * in.channels + channel);
    load<V>(x, in.x + row * in.channels + channel);
    load<V>(m, in.mean + channel);
    load<V>(s, in.rstd + channel);
#pragma unroll
    for (int v = 0; v < V; ++v) {
      sums[0][v] += g[v] * ((x[v] - m[v]) * s[v]);
      sums[1][v] += g[v];
    }
  }
};

/// With n = (x - mean)·rstd and g = dy where ReLU was active: dx = weight·rstd·(g - mean(g) - n·mean(g·n)). dx or
/// dresidual may be dy.
template <class T>
struct InputGradient {
  using A = Arithmetic<T>;
  T *dx, *dresidual;  ///< dresidual may be null
  GradientInputs<T> in;
  const A *weights, *biases;  ///< sums over these rows
  A share;
  template <int V>
  __device__ void apply(int64_t i) const {
    const int64_t c = i % in.channels;
    A g[V], x[V], m[V], s[V], w[V], of_weight[V], of_bias[V];
    in.open(g, i);
    load<V>(x, in.x + i);
    load<V>(m, in.mean + c);
    load<V>(s, in.rstd + c);
    load<V>(w, in.weight + c);
    load<V>(of_weight, weights + c);
    load<V>(of_bias, biases + c);
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const A n = (x[v] - m[v]) * s[v];
      x[v] = (g[v] - (of_bias[v] + n * of_weight[v]) * share) * (s[v] * w[v]);
    }
    store(dx + i, x);
    if (dresidual != nullptr) store(dresidual + i, g);
  }
};

template <class A>
struct TakeGradients {
  A* gradient[2];
  const A* own[2];
  bool accumulate[2];
  template <int V>
  __device__ void apply(int64_t first) const {
    for (int g = 0; g < 2; ++g)
      for (int64_t i = first; i < first + V; ++i)
        gradient[g][i] = accumulate[g] ? gradient[g][i] + own[g][i] : own[g][i];
  }
};

}  // namespace

Prepared<View, View, View, View, View, View, View> batch_norm_forward(const BatchNormSpec& spec, const Options&) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View, View, View, View, View, View> {
    using A = Arithmetic<T>;
    return {column_workspace<A>(spec.rows, spec.channels, 1),
            [spec](View y, View mean, View rstd, View x, View weight, View bias, View residual, const Stream& stream) {
              const A share = A(1) / static_cast<A>(spec.rows);
              const bool packed = rows_are_packs(spec.channels, pack<T>, 16, {x.data, mean.data});
              sum_columns<T>(ColumnSums<A, 1>{{mean.as<A>()}, {false}}, spec.rows, spec.channels, packed,
                             ChannelSum<T>{x.as<const T>(), spec.channels}, stream);
              sum_columns<T>(ColumnSums<A, 1>{{rstd.as<A>()}, {false}}, spec.rows, spec.channels, packed,
                             SquareSum<T>{x.as<const T>(), mean.as<const A>(), spec.channels, share}, stream);
              for_each_element<A>(spec.channels, {mean.data, rstd.data},
                                  Statistics<A>{mean.as<A>(), rstd.as<A>(), share, spec.epsilon}, stream);
              const T* added = spec.residual ? residual.as<const T>() : nullptr;
              for_each_channel<T>(
                  spec.rows, spec.channels, spec.channels,
                  {y.data, mean.data, rstd.data, x.data, weight.data, bias.data, added},
                  Normalise<T>{y.as<T>(), mean.as<const A>(), rstd.as<const A>(), x.as<const T>(), weight.as<const T>(),
                               bias.as<const T>(), added, spec.channels, spec.relu},
                  stream);
            }};
  });
}

Prepared<View, View, View, View, View, View, View, View, View, View> batch_norm_backward(const BatchNormSpec& spec,
                                                                                         const Options&) {
  using Result = Prepared<View, View, View, View, View, View, View, View, View, View>;
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Result {
    using A = Arithmetic<T>;
    const int64_t partials = column_workspace<A>(spec.rows, spec.channels, 2);
    const int64_t of_channels = aligned(spec.channels * static_cast<int64_t>(sizeof(A)));
    return {partials + 2 * of_channels, [=](View dx, View dweight, View dbias, View dresidual, View dy, View y, View x,
                                            View mean, View rstd, View weight, const Stream& stream) {
              const GradientInputs<T> in{dy.as<const T>(),   spec.relu ? y.as<const T>() : nullptr,
                                         x.as<const T>(),    mean.as<const A>(),
                                         rstd.as<const A>(), weight.as<const T>(),
                                         spec.channels};
              // The sums over only these rows, which dx needs even if gradients are accumulated.
              auto* weights = reinterpret_cast<A*>(stream.workspace + partials);
              auto* biases = reinterpret_cast<A*>(stream.workspace + partials + of_channels);
              const bool packed = rows_are_packs(spec.channels, pack<T>, 16, {in.dy, in.y, in.x, mean.data, rstd.data});
              sum_columns<T>(ColumnSums<A, 2>{{weights, biases}, {false, false}}, spec.rows, spec.channels, packed,
                             GradientSums<T>{in}, stream);
              T* branch = spec.residual ? dresidual.as<T>() : nullptr;
              for_each_channel<T>(
                  spec.rows, spec.channels, spec.channels,
                  {dx.data, branch, in.dy, in.y, in.x, mean.data, rstd.data, weight.data, weights, biases},
                  InputGradient<T>{dx.as<T>(), branch, in, weights, biases, A(1) / static_cast<A>(spec.rows)}, stream);
              for_each_element<A>(spec.channels, {dweight.data, dbias.data},
                                  TakeGradients<A>{{dweight.as<A>(), dbias.as<A>()},
                                                   {weights, biases},
                                                   {spec.accumulate_weight, spec.accumulate_bias}},
                                  stream);
            }};
  });
}

}  // namespace rankscope::kernels::cuda
