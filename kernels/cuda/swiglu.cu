// SwiGLU, y = gate·σ(gate)·up with the logistic function σ, and its gradient. Gate and up are the two halves of a row.
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/ops.hpp"

namespace rankscope::kernels::cuda {
namespace {

template <class T>
struct Gated {
  int64_t width;
  T* y;
  const T* x;
  /// i: an element of y; its V neighbours are in the same row.
  template <int V>
  __device__ void apply(int64_t i) const {
    using A = Arithmetic<T>;
    const int64_t gate_at = i + i / width * width;
    A gate[V], up[V];
    load<V>(gate, x + gate_at);
    load<V>(up, x + gate_at + width);
    for (int v = 0; v < V; ++v) up[v] *= gate[v] / (A(1) + exp_of(-gate[v]));
    store(y + i, up);
  }
};

/// The slope of g·σ(g) is σ(g)·(1 + g·(1 - σ(g))).
template <class T>
struct GatedSlope {
  int64_t width;
  T* dx;
  const T *dy, *x;
  template <int V>
  __device__ void apply(int64_t i) const {
    using A = Arithmetic<T>;
    const int64_t gate_at = i + i / width * width;
    A gate[V], up[V], d[V];
    load<V>(gate, x + gate_at);
    load<V>(up, x + gate_at + width);
    load<V>(d, dy + i);
    for (int v = 0; v < V; ++v) {
      const A g = gate[v], s = A(1) / (A(1) + exp_of(-g));
      gate[v] = d[v] * up[v] * s * (A(1) + g * (A(1) - s));
      up[v] = d[v] * g * s;
    }
    store(dx + gate_at, gate);
    store(dx + gate_at + width, up);
  }
};

/// Packs of neighbours only if they do not cross rows.
template <class T, class Body>
void for_each_pair(const ElementwiseSpec& spec, std::initializer_list<const void*> tensors, const Body& body,
                   const Stream& stream) {
  const int64_t n = spec.rows * spec.width;
  constexpr int v = pack<T>;
  if (rows_are_packs(spec.width, v, 16, tensors))
    launch(each_element<v, Body>, {grid_of(pieces_of(n, 256 * v)), dim3(256)}, stream, n, body);
  else
    launch(each_element<1, Body>, {grid_of(pieces_of(n, 256)), dim3(256)}, stream, n, body);
}

}  // namespace

Prepared<View, View> swiglu_forward(const ElementwiseSpec& spec, const Options&) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View> {
    return {0, [spec](View y, View x, const Stream& stream) {
              for_each_pair<T>(spec, {y.data, x.data}, Gated<T>{spec.width, y.as<T>(), x.as<const T>()}, stream);
            }};
  });
}

Prepared<View, View, View> swiglu_backward(const ElementwiseSpec& spec, const Options&) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View, View> {
    return {0, [spec](View dx, View dy, View x, const Stream& stream) {
              for_each_pair<T>(spec, {dx.data, dy.data, x.data},
                               GatedSlope<T>{spec.width, dx.as<T>(), dy.as<const T>(), x.as<const T>()}, stream);
            }};
  });
}

}  // namespace rankscope::kernels::cuda
