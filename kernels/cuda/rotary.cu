// Rotary positions and grouped queries: from packed heads to attention's operand, and its gradient back. A thread has one
// pair of numbers in every head of a row, so that it computes their angle once, in fp64: in fp32 an angle of some
// thousand radians would have an error of some 1e-4.
#include <cmath>

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/ops.hpp"

namespace rankscope::kernels::cuda {
namespace {

/// A point of the plane.
template <class A>
struct Pair {
  A first, second;
  __device__ Pair turned(A cosine, A sine) const {
    return {first * cosine - second * sine, second * cosine + first * sine};
  }
};

template <class T>
struct Rotary {
  using A = Arithmetic<T>;
  int64_t context, heads, key_value_heads, half;
  double theta;
  T* to;
  const T* from;
  bool back;

  __device__ Pair<A> read(int64_t at) const { return {widen(from[at]), widen(from[at + half])}; }
  __device__ void write(int64_t at, const Pair<A>& pair) const {
    to[at] = narrow<T>(pair.first);
    to[at + half] = narrow<T>(pair.second);
  }

  /// i: row and pair.
  template <int V>
  __device__ void apply(int64_t i) const {
    static_assert(V == 1);
    const int64_t row = i / half, pair = i % half, depth = 2 * half, group = heads / key_value_heads;
    const double angle =
        static_cast<double>(row % context) * pow(theta, -static_cast<double>(pair) / static_cast<double>(half));
    const A cosine = static_cast<A>(cos(angle)), sine = static_cast<A>(back ? -sin(angle) : sin(angle));
    const int64_t packed = row * (heads + 2 * key_value_heads) * depth + pair, spread = row * 3 * heads * depth + pair;
    for (int64_t h = 0; h < heads; ++h)
      write((back ? packed : spread) + h * depth, read((back ? spread : packed) + h * depth).turned(cosine, sine));
    for (int key = 1; key >= 0; --key)
      for (int64_t h = 0; h < key_value_heads; ++h) {
        const int64_t one = packed + (heads + (key ? 0 : key_value_heads) + h) * depth;
        const int64_t many = spread + (heads + (key ? 0 : heads) + h * group) * depth;
        Pair<A> value = back ? read(many) : read(one);
        for (int64_t g = 1; back && g < group; ++g) {
          const Pair<A> next = read(many + g * depth);
          value = {value.first + next.first, value.second + next.second};
        }
        if (key) value = value.turned(cosine, sine);
        if (back)
          write(one, value);
        else
          for (int64_t g = 0; g < group; ++g) write(many + g * depth, value);
      }
  }
};

Prepared<View, View> rotary(const RotarySpec& spec, bool back) {
  require_groups(spec);
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View> {
    return {0, [spec, back](View to, View from, const Stream& stream) {
              const int64_t half = spec.depth / 2, n = spec.rows() * half;
              const Rotary<T> body{spec.context, spec.heads,         spec.key_value_heads, half, spec.theta,
                                   to.as<T>(),   from.as<const T>(), back};
              launch(each_element<1, Rotary<T>>, {grid_of(pieces_of(n, 256)), dim3(256)}, stream, n, body);
            }};
  });
}

}  // namespace

Prepared<View, View> rotary_forward(const RotarySpec& spec, const Options&) { return rotary(spec, false); }
Prepared<View, View> rotary_backward(const RotarySpec& spec, const Options&) { return rotary(spec, true); }

}  // namespace rankscope::kernels::cuda
