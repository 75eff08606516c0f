// Counts elements by magnitude: a block counts its own in shared memory and adds them to the total.
#include "kernels/tensor/magnitude.hpp"

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/ops.hpp"

namespace rankscope::kernels::cuda {
namespace {

constexpr int count_threads = 256;
constexpr int64_t elements_per_block = 65536;

__device__ inline int bin_of(float x) { return magnitude_bin(__float_as_uint(x), 8, 23); }
__device__ inline int bin_of(double x) {
  return magnitude_bin(static_cast<std::uint64_t>(__double_as_longlong(x)), 11, 52);
}

template <class T>
__global__ void __launch_bounds__(count_threads) count(double* counts, const T* x, int64_t n) {
  __shared__ int own[magnitude_bins];
  if (threadIdx.x < magnitude_bins) own[threadIdx.x] = 0;
  __syncthreads();
  const int64_t begin = int64_t{blockIdx.x} * elements_per_block;
  const int64_t end = lesser(n, begin + elements_per_block);
  for (int64_t i = begin + threadIdx.x; i < end; i += count_threads) atomicAdd(own + bin_of(widen(x[i])), 1);
  __syncthreads();
  // Integers: their sum does not depend on its order.
  if (threadIdx.x < magnitude_bins && own[threadIdx.x] > 0)
    atomicAdd(counts + threadIdx.x, static_cast<double>(own[threadIdx.x]));
}

}  // namespace

Prepared<View, View> count_magnitudes(const FlatSpec& spec, const Options&) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View> {
    return {0, [n = spec.elements](View counts, View x, const Stream& stream) {
              launch(count<T>, {grid_of(pieces_of(n, elements_per_block)), dim3(count_threads)}, stream,
                     counts.as<double>(), x.as<const T>(), n);
            }};
  });
}

}  // namespace rankscope::kernels::cuda
