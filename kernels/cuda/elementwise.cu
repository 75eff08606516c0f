// Residual sum, scaling, sum over rows, the clip coefficient.
#include "kernels/cuda/columns.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/ops.hpp"
#include "kernels/cuda/reduce.cuh"

namespace rankscope::kernels::cuda {
namespace {

template <class T>
struct Add {
  T* y;
  const T *a, *b;
  template <int V>
  __device__ void apply(int64_t i) const {
    Arithmetic<T> left[V], right[V];
    load<V>(left, a + i);
    load<V>(right, b + i);
    for (int v = 0; v < V; ++v) left[v] += right[v];
    store(y + i, left);
  }
};

template <class T>
struct Scale {
  T* x;
  Arithmetic<T> factor;
  template <int V>
  __device__ void apply(int64_t i) const {
    Arithmetic<T> value[V];
    load<V>(value, x + i);
    for (int v = 0; v < V; ++v) value[v] *= factor;
    store(x + i, value);
  }
};

/// As kernels::clip_coefficient (kernels/update.hpp), for clip > 0 and for none.
__global__ void coefficient_of(double* coefficient, const double* square_norm, double clip) {
  const double allowed = clip / (sqrt(*square_norm) + 1e-6);
  *coefficient = clip > 0 && allowed < 1 ? allowed : 1;
}

template <class T>
struct RowSum {
  static constexpr int terms = 1;
  const T* dy;
  int64_t width;
  template <int V>
  __device__ void add(Arithmetic<T> (&sums)[1][V], int64_t row, int64_t column) const {
    Arithmetic<T> value[V];
    load<V>(value, dy + row * width + column);
    for (int v = 0; v < V; ++v) sums[0][v] += value[v];
  }
};

}  // namespace

Prepared<View, View, View> add(const ElementwiseSpec& spec, const Options&) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View, View> {
    return {
        0, [n = spec.rows * spec.width](View y, View a, View b, const Stream& stream) {
          for_each_element<T>(n, {y.data, a.data, b.data}, Add<T>{y.as<T>(), a.as<const T>(), b.as<const T>()}, stream);
        }};
  });
}

Prepared<View, double> scale(const FlatSpec& spec, const Options&) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, double> {
    return {0, [n = spec.elements](View x, double factor, const Stream& stream) {
              for_each_element<T>(n, {x.data}, Scale<T>{x.as<T>(), static_cast<Arithmetic<T>>(factor)}, stream);
            }};
  });
}

Prepared<double*, const double*, double> clip_coefficient(const FlatSpec&, const Options&) {
  return {0, [](double* coefficient, const double* square_norm, double clip, const Stream& stream) {
            launch(coefficient_of, {grid_of(1), dim3(1)}, stream, coefficient, square_norm, clip);
          }};
}

Prepared<View, View> bias_gradient(const BiasGradientSpec& spec, const Options&) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View> {
    using A = Arithmetic<T>;
    return {column_workspace<A>(spec.rows, spec.width, 1), [spec](View db, View dy, const Stream& stream) {
              sum_columns<T>(ColumnSums<A, 1>{{db.as<A>()}, {spec.accumulate}}, spec.rows, spec.width,
                             rows_are_packs(spec.width, pack<T>, 16, {dy.data}),
                             RowSum<T>{dy.as<const T>(), spec.width}, stream);
            }};
  });
}

}  // namespace rankscope::kernels::cuda
