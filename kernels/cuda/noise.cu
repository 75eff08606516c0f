#include "kernels/cuda/noise.hpp"

#include "kernels/cuda/launch.cuh"
#include "kernels/tensor/random.hpp"

namespace rankscope::kernels::cuda {
namespace {

template <class T>
struct Noise {
  T* to;
  template <int V>
  __device__ void apply(int64_t first) const {
    Arithmetic<T> value[V];
    for (int v = 0; v < V; ++v) {
      const std::uint32_t word = random_word(0, 0, static_cast<std::uint64_t>(first + v));
      value[v] = static_cast<Arithmetic<T>>(static_cast<std::int32_t>(word)) * Arithmetic<T>(0x1p-31);
    }
    store(to + first, value);
  }
};

}  // namespace

void fill_with_noise(void* to, DType type, std::int64_t elements, const Stream& stream) {
  with_type(type, [&]<class T>(Tag<T>) {
    for_each_element<T>(elements, {to}, Noise<T>{static_cast<T*>(to)}, stream);
  });
}

}  // namespace rankscope::kernels::cuda
