// The part of CUDA's language and runtime that kernels/cuda uses, on the host: see emulator.hpp.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <tuple>

#include "emulator.hpp"
#include "runtime.hpp"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __constant__
#define __grid_constant__
// So many one-byte instructions before a kernel say what its blocks are limited to: emulated::launch_bound() counts
// them.
#if RANKSCOPE_LAUNCH_BOUNDS
#define __launch_bounds__(threads, ...) __attribute__((patchable_function_entry(0 + (threads), 0 + (threads))))
#else
#define __launch_bounds__(threads, ...)  // they are not checked
#endif
// One block runs at a time. By the alignment emulated::run() finds what is shared among the program's symbols.
#define __shared__ static __attribute__((aligned(4096)))

enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
struct cudaLaunchAttribute;
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  cudaLaunchAttribute* attrs = nullptr;
  unsigned numAttrs = 0;
};

template <class... Expected, class... Actual>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Expected...), Actual&&... arguments) {
  emulated::count_launch();
  const auto* const code = reinterpret_cast<const void*>(kernel);
  if (!emulated::may_launch(code, config->blockDim, config->dynamicSmemBytes)) return cudaErrorInvalidValue;
  // Parameters are copied when a kernel is launched, as they are for a device.
  return emulated::enqueue(config->stream,
                           [grid = config->gridDim, block = config->blockDim, shared = config->dynamicSmemBytes, kernel,
                            parameters = std::tuple<Expected...>(arguments...)] {
                             emulated::run(grid, block, shared, [&] { std::apply(kernel, parameters); });
                           });
}
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute attribute, int bytes) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaErrorInvalidValue;
  return emulated::allow_shared(reinterpret_cast<const void*>(kernel), bytes);
}

inline void __syncthreads() { emulated::block_barrier(); }
inline void __syncwarp(unsigned = 0xFFFFFFFFu) { emulated::warp_barrier(); }
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  T other;
  emulated::exchange(&value, &other, sizeof(T), emulated::lane() ^ mask);
  return other;
}
template <class T>
T __shfl_sync(unsigned, T value, int lane) {
  T other;
  emulated::exchange(&value, &other, sizeof(T), lane);
  return other;
}
inline unsigned __ballot_sync(unsigned, bool yes) {
  const std::byte* given = emulated::give(&yes, sizeof yes);
  unsigned lanes = 0;
  for (int lane = 0; lane < 32; ++lane)
    if (given[static_cast<std::size_t>(lane) * emulated::most_given] != std::byte{0}) lanes |= 1u << lane;
  return lanes;
}
inline int __ffs(int word) { return word == 0 ? 0 : std::countr_zero(static_cast<unsigned>(word)) + 1; }
/// One thread runs at a time.
template <class T>
T atomicAdd(T* at, T more) {
  const T before = *at;
  *at = before + more;
  return before;
}
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
