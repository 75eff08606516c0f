// Residual sum, scaling, sum over rows, sum of squares.
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

constexpr int norm_threads = 256;
constexpr int64_t elements_per_partial = 16384;

/// partial[block] = sum of the squares of 16384 elements. In fp64, whatever the elements.
template <class T, int V>
__global__ void __launch_bounds__(norm_threads) partial_square_norms(double* partial, const T* x, int64_t n) {
  const int64_t begin = int64_t{blockIdx.x} * elements_per_partial;
  const int64_t end = lesser(n, begin + elements_per_partial);
  double sum = 0;
  for (int64_t i = begin + int64_t{threadIdx.x} * V; i < end; i += norm_threads * V) {
    if (i + V <= end) {
      Arithmetic<T> value[V];
      load<V>(value, x + i);
#pragma unroll
      for (int v = 0; v < V; ++v) sum += static_cast<double>(value[v]) * static_cast<double>(value[v]);
    } else {
      for (int64_t j = i; j < end; ++j) {
        const double value = static_cast<double>(widen(x[j]));
        sum += value * value;
      }
    }
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

/// As kernels::clip_coefficient (kernels/update_numbers.hpp), for clip > 0 and for none.
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
  return with_type(spec.type, [&](auto tag) -> Prepared<View, View, View> {
    using T = typename decltype(tag)::type;
    return {
        0, [n = spec.rows * spec.width](View y, View a, View b, const Stream& stream) {
          for_each_element<T>(n, {y.data, a.data, b.data}, Add<T>{y.as<T>(), a.as<const T>(), b.as<const T>()}, stream);
        }};
  });
}

Prepared<View, double> scale(const FlatSpec& spec, const Options&) {
  return with_type(spec.type, [&](auto tag) -> Prepared<View, double> {
    using T = typename decltype(tag)::type;
    return {0, [n = spec.elements](View x, double factor, const Stream& stream) {
              for_each_element<T>(n, {x.data}, Scale<T>{x.as<T>(), static_cast<Arithmetic<T>>(factor)}, stream);
            }};
  });
}

Prepared<double*, View> square_norm(const FlatSpec& spec, const Options&) {
  return with_type(spec.type, [&](auto tag) -> Prepared<double*, View> {
    using T = typename decltype(tag)::type;
    const int64_t n = spec.elements, blocks = pieces_of(n, elements_per_partial);
    return {aligned(blocks * bytes_of(DType::f64)),
            [n, blocks, accumulate = spec.accumulate](double* out, View x, const Stream& stream) {
              auto* partial = reinterpret_cast<double*>(stream.workspace);
              const Geometry geometry{grid_of(blocks), dim3(norm_threads)};
              if (rows_are_packs(0, pack<T>, 16, {x.data}))
                launch(partial_square_norms<T, pack<T>>, geometry, stream, partial, x.as<const T>(), n);
              else
                launch(partial_square_norms<T, 1>, geometry, stream, partial, x.as<const T>(), n);
              launch(sum_values, {grid_of(1), dim3(reducers)}, stream, out, partial, blocks, accumulate);
            }};
  });
}

Prepared<double*, const double*, double> clip_coefficient(const FlatSpec&, const Options&) {
  return {0, [](double* coefficient, const double* square_norm, double clip, const Stream& stream) {
            launch(coefficient_of, {grid_of(1), dim3(1)}, stream, coefficient, square_norm, clip);
          }};
}

Prepared<View, View> bias_gradient(const BiasGradientSpec& spec, const Options&) {
  return with_type(spec.type, [&](auto tag) -> Prepared<View, View> {
    using T = typename decltype(tag)::type;
    using A = Arithmetic<T>;
    return {column_workspace<A>(spec.rows, spec.width, 1), [spec](View db, View dy, const Stream& stream) {
              sum_columns<T>(ColumnSums<A, 1>{{db.as<A>()}, {spec.accumulate}}, spec.rows, spec.width,
                             rows_are_packs(spec.width, pack<T>, 16, {dy.data}),
                             RowSum<T>{dy.as<const T>(), spec.width}, stream);
            }};
  });
}

}  // namespace rankscope::kernels::cuda
