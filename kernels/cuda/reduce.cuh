// Sums and maxima over a warp and over a block; the order is always the same, so results are bit-identical. Internal to
// kernels/cuda.
#pragma once
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/geometry.hpp"

namespace rankscope::kernels::cuda {

struct Plus {
  template <class N>
  __device__ N operator()(N a, N b) const {
    return a + b;
  }
};
struct Greater {
  template <class N>
  __device__ N operator()(N a, N b) const {
    return greater(a, b);
  }
};

/// Over groups of `lanes` neighbours; every lane gets the result. All lanes of the warp must call it.
template <int lanes = warp_size, class N, class Combine>
__device__ inline N over_lanes(N value, Combine combine) {
#pragma unroll
  for (int offset = lanes / 2; offset > 0; offset /= 2)
    value = combine(value, __shfl_xor_sync(0xFFFFFFFFu, value, offset));
  return value;
}
template <class N>
__device__ inline N warp_sum(N value) {
  return over_lanes(value, Plus{});
}

/// Over a one-dimensional block of complete warps; every thread gets the result. All threads must call it.
template <class N, class Combine>
__device__ inline N over_block(N value, N neutral, Combine combine) {
  __shared__ N of_warp[32];
  const int warp = static_cast<int>(threadIdx.x) / warp_size, lane = static_cast<int>(threadIdx.x) % warp_size;
  value = over_lanes(value, combine);
  __syncthreads();  // all threads have finished using of_warp
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();
  value = lane < static_cast<int>(blockDim.x) / warp_size ? of_warp[lane] : neutral;
  return over_lanes(value, combine);
}
template <class N>
__device__ inline N block_sum(N value) {
  return over_block(value, N(0), Plus{});
}

/// *out = or += the sum of n values, by one block of `reducers` threads.
inline constexpr int reducers = 1024;
inline __global__ void __launch_bounds__(reducers)
    sum_values(double* out, const double* values, int64_t n, bool accumulate) {
  double sum = 0;
  for (int64_t i = threadIdx.x; i < n; i += reducers) sum += values[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) *out = accumulate ? *out + sum : sum;
}

}  // namespace rankscope::kernels::cuda
