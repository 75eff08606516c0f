// Sums of tensors of several ranks that share a device: every element of each is read once, and the sum is written in
// place, so the outputs may be the parts.
#include "kernels/cuda/sum.hpp"

#include "kernels/cuda/launch.cuh"

namespace rankscope::kernels::cuda {
namespace {

constexpr int most = 64;  ///< two lists of pointers fit into a kernel's parameters

struct Places {
  int parts = 0, outputs = 0;
  const void* part[most];
  void* output[most];
};

template <class T>
struct Sum {
  Places places;
  template <int V>
  __device__ void apply(int64_t i) const {
    Arithmetic<T> sum[V], term[V];
    load<V>(sum, static_cast<const T*>(places.part[0]) + i);
    for (int p = 1; p < places.parts; ++p) {
      load<V>(term, static_cast<const T*>(places.part[p]) + i);
#pragma unroll
      for (int v = 0; v < V; ++v) sum[v] += term[v];
    }
    for (int o = 0; o < places.outputs; ++o) store(static_cast<T*>(places.output[o]) + i, sum);
  }
};

/// Unsigned: an overflow wraps around.
template <class T>
struct WholeSum {
  Places places;
  template <int V>
  __device__ void apply(int64_t first) const {
    for (int64_t i = first; i < first + V; ++i) {
      T sum = 0;
      for (int p = 0; p < places.parts; ++p) sum = static_cast<T>(sum + static_cast<const T*>(places.part[p])[i]);
      for (int o = 0; o < places.outputs; ++o) static_cast<T*>(places.output[o])[i] = sum;
    }
  }
};

template <int V, class Body>
void run(const Body& body, int64_t n, const Stream& stream) {
  launch(each_element<V, Body>, {grid_of(pieces_of(n, 256 * V)), dim3(256)}, stream, n, body);
}

bool are_aligned(const Places& places) {
  const auto aligned_at = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at) % 16 == 0; };
  for (int p = 0; p < places.parts; ++p)
    if (!aligned_at(places.part[p])) return false;
  for (int o = 0; o < places.outputs; ++o)
    if (!aligned_at(places.output[o])) return false;
  return true;
}

}  // namespace

void sum_parts(DType type, std::span<void* const> into, std::span<const void* const> parts, std::int64_t elements,
               const Stream& stream) {
  if (elements == 0) return;
  if (parts.size() > most || into.size() > most)
    throw Unsupported("the device 'cuda' sums tensors of up to " + std::to_string(most) + " ranks, not of " +
                      std::to_string(parts.size()));
  Places places;
  for (const void* part : parts) places.part[places.parts++] = part;
  for (void* output : into) places.output[places.outputs++] = output;
  if (type == DType::i32) return run<1>(WholeSum<std::uint32_t>{places}, elements, stream);
  if (type == DType::u8) return run<1>(WholeSum<std::uint8_t>{places}, elements, stream);
  with_type(type, [&]<class T>(Tag<T>) {
    if (are_aligned(places))
      run<pack<T>>(Sum<T>{places}, elements, stream);
    else
      run<1>(Sum<T>{places}, elements, stream);
  });
}

}  // namespace rankscope::kernels::cuda
