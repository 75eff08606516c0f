// GELU in its tanh form, x·σ(2u) with u = sqrt(2/π)·(x + 0.044715·x³): one exponential, and no cancellation for
// negative x. For products whose GELU cuBLASLt does not have in one kernel.
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/ops.hpp"

namespace rankscope::kernels::cuda {
namespace {

template <class A>
constexpr A root = A(0.79788456080286535588);
template <class A>
constexpr A cubic = A(0.044715);

/// σ(2u) of x.
template <class A>
__device__ A logistic(A x) {
  const A minus_2u = x * (A(-2) * root<A>)*(A(1) + cubic<A> * x * x);
  return A(1) / (A(1) + exp_of(minus_2u));
}

template <class T>
struct Gelu {
  T* y;
  const T* x;
  template <int V>
  __device__ void apply(int64_t i) const {
    Arithmetic<T> value[V];
    load<V>(value, x + i);
    for (int v = 0; v < V; ++v) value[v] *= logistic(value[v]);
    store(y + i, value);
  }
};

template <class T>
struct GeluSlope {
  T* dx;
  const T *dy, *x;
  template <int V>
  __device__ void apply(int64_t i) const {
    using A = Arithmetic<T>;
    A value[V], slope[V];
    load<V>(value, x + i);
    load<V>(slope, dy + i);
    for (int v = 0; v < V; ++v) {
      const A s = logistic(value[v]);
      const A inner = (A(2) * root<A>)*(A(1) + (A(3) * cubic<A>)*value[v] * value[v]);
      slope[v] *= s + value[v] * s * (A(1) - s) * inner;
    }
    store(dx + i, slope);
  }
};

}  // namespace

Prepared<View, View> gelu(const ElementwiseSpec& spec, const Options&) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View> {
    return {0, [n = spec.rows * spec.width](View y, View x, const Stream& stream) {
              for_each_element<T>(n, {y.data, x.data}, Gelu<T>{y.as<T>(), x.as<const T>()}, stream);
            }};
  });
}

Prepared<View, View, View> gelu_slope(const ElementwiseSpec& spec, const Options&) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View, View> {
    return {0, [n = spec.rows * spec.width](View dx, View dy, View x, const Stream& stream) {
              for_each_element<T>(n, {dx.data, dy.data, x.data},
                                  GeluSlope<T>{dx.as<T>(), dy.as<const T>(), x.as<const T>()}, stream);
            }};
  });
}

}  // namespace rankscope::kernels::cuda
