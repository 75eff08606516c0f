// Launches kernels and checks every launch. Internal to kernels/cuda.
#pragma once
#include <cuda_runtime.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/cuda/element.cuh"
#include "kernels/cuda/geometry.hpp"
#include "kernels/kernel_set.hpp"

namespace rankscope::kernels::cuda {

/// Throws std::runtime_error with the action and CUDA's name and message for the error.
inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  throw std::runtime_error(std::string("CUDA: ") + what + ": " + cudaGetErrorName(error) + ": " +
                           cudaGetErrorString(error));
}

struct Geometry {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
};

/// Enqueues a kernel. For a grid without blocks nothing is done.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const Geometry& geometry, const Stream& stream, Arguments&&... arguments) {
  if (geometry.grid.x == 0 || geometry.grid.y == 0 || geometry.grid.z == 0) return;
  cudaLaunchConfig_t config{};
  config.gridDim = geometry.grid;
  config.blockDim = geometry.block;
  config.dynamicSmemBytes = geometry.shared_bytes;
  config.stream = static_cast<cudaStream_t>(stream.handle);
  check(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...), "launching a kernel");
}

/// Call it once, while preparing: more than 48 KB of shared memory must be requested. Throws Unsupported if the current
/// device has less for a block.
template <class Kernel>
void allow_shared_memory(Kernel* kernel, std::size_t bytes) {
  if (bytes <= 48 << 10) return;
  int device = 0, most = 0;
  check(cudaGetDevice(&device), "asking for the current device");
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        "asking for shared memory's size");
  if (bytes > static_cast<std::size_t>(most))
    throw Unsupported("a block wants " + std::to_string(bytes) + " bytes of shared memory, and has at most " +
                      std::to_string(most));
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "asking for shared memory");
}

inline dim3 grid_of(int64_t blocks, int64_t rows = 1) {
  return {static_cast<unsigned>(blocks), static_cast<unsigned>(rows), 1};
}

inline void clear(void* to, int64_t bytes, const Stream& stream) {
  if (bytes > 0)
    check(cudaMemsetAsync(to, 0, static_cast<std::size_t>(bytes), static_cast<cudaStream_t>(stream.handle)),
          "clearing memory");
}

/// Body::apply<V>(i) for every element of [0, n), V neighbours at once, the last few one by one.
template <int V, class Body>
__global__ void __launch_bounds__(256) each_element(int64_t n, const Body body) {
  const int64_t first = (int64_t{blockIdx.x} * 256 + threadIdx.x) * V;
  if (first + V <= n) {
    body.template apply<V>(first);
  } else {
    for (int64_t i = first; i < n; ++i) body.template apply<1>(i);
  }
}

/// Runs each_element with 16-byte accesses of T if all `tensors` are aligned for it.
template <class T, class Body>
void for_each_element(int64_t n, std::initializer_list<const void*> tensors, const Body& body, const Stream& stream) {
  constexpr int v = pack<T>;
  if (rows_are_packs(0, v, 16, tensors))
    launch(each_element<v, Body>, {grid_of(pieces_of(n, 256 * v)), dim3(256)}, stream, n, body);
  else
    launch(each_element<1, Body>, {grid_of(pieces_of(n, 256)), dim3(256)}, stream, n, body);
}

template <class T>
__device__ inline T* at(T* data, int64_t index) {
  return data == nullptr ? nullptr : data + index;
}

}  // namespace rankscope::kernels::cuda
