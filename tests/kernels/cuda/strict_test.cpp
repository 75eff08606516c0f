// The emulated CUDA refuses what CUDA refuses, and does not hide errors that a device would show.
#include <cuda_runtime.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cuda/device.hpp"

#include "tests/catch.hpp"
#include "tests/judged.hpp"

namespace rankscope::kernels::cuda {
namespace {

constexpr int threads = 64;

__global__ void __launch_bounds__(threads) mark(float* to) { to[threadIdx.x] = 1; }

/// Stores the first value of each block's shared memory; then the block writes its number there.
template <class T>
__global__ void __launch_bounds__(threads) look(T* static_one, T* dynamic_one) {
  __shared__ T own[threads];
  auto* const dynamic = reinterpret_cast<T*>(emulated::shared_memory());
  static_one[blockIdx.x] = own[0];
  dynamic_one[blockIdx.x] = dynamic[0];
  __syncthreads();
  own[0] = dynamic[0] = static_cast<T>(blockIdx.x);
}

__global__ void __launch_bounds__(threads) look_at_float(float* to) {
  __shared__ float own;
  to[blockIdx.x] = own;
  __syncthreads();
  own = 5;
}

}  // namespace
}  // namespace rankscope::kernels::cuda

using namespace rankscope::kernels::cuda;

namespace {

cudaLaunchConfig_t config(unsigned blocks, unsigned block, std::size_t shared_bytes = 0) {
  cudaLaunchConfig_t c;
  c.gridDim = {blocks};
  c.blockDim = {block};
  c.dynamicSmemBytes = shared_bytes;
  return c;
}

}  // namespace

TEST_CASE("a block of more threads than its kernel was compiled for is not launched") {
  if (!RANKSCOPE_LAUNCH_BOUNDS) return rankscope::test::not_judged("launch bounds: they need the linker mold");
  std::vector<float> to(128);
  auto fits = config(1, threads), too_many = config(1, threads + 1), deep = config(1, threads);
  deep.blockDim = {threads / 2, 4};
  CHECK(emulated::launch_bound(reinterpret_cast<const void*>(&mark)) == threads);
  CHECK(emulated::launch_bound(reinterpret_cast<const void*>(&look<double>)) == threads);
  CHECK(cudaLaunchKernelEx(&fits, mark, to.data()) == cudaSuccess);
  CHECK(cudaLaunchKernelEx(&too_many, mark, to.data()) == cudaErrorInvalidValue);
  CHECK(cudaLaunchKernelEx(&deep, mark, to.data()) == cudaErrorInvalidValue);
  CHECK(to[threads] == 0);
}

TEST_CASE("more than 48 KiB of shared memory must be requested, by each kernel and on each device") {
  std::vector<float> a(1), b(1);
  std::vector<double> c(1), d(1);
  auto small = config(1, 1, 48 << 10), large = config(1, 1, 64 << 10);
  CHECK(cudaLaunchKernelEx(&small, look<float>, a.data(), b.data()) == cudaSuccess);
  CHECK(cudaLaunchKernelEx(&large, look<float>, a.data(), b.data()) == cudaErrorInvalidValue);
  REQUIRE(cudaFuncSetAttribute(look<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10) == cudaSuccess);
  CHECK(cudaLaunchKernelEx(&large, look<float>, a.data(), b.data()) == cudaSuccess);
  CHECK(cudaLaunchKernelEx(&large, look<double>, c.data(), d.data()) == cudaErrorInvalidValue);
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  CHECK(cudaLaunchKernelEx(&large, look<float>, a.data(), b.data()) == cudaErrorInvalidValue);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
}

TEST_CASE("shared memory is filled with NaN at the begin of every block") {
  std::vector<double> a(3, 1), b(3, 1);
  std::vector<float> c(3, 1);
  auto blocks = config(3, 1, 64);
  REQUIRE(cudaLaunchKernelEx(&blocks, look<double>, a.data(), b.data()) == cudaSuccess);
  REQUIRE(cudaLaunchKernelEx(&blocks, look_at_float, c.data()) == cudaSuccess);
  for (std::size_t block = 0; block < 3; ++block) {
    INFO("block " << block);
    CHECK(std::isnan(a[block]));
    CHECK(std::isnan(b[block]));
    CHECK(std::isnan(c[block]));
  }
}

TEST_CASE("streams that would wait for the null stream, invalid flags and times of events without timing are refused") {
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamDefault) == cudaErrorInvalidValue);
  cudaEvent_t event = nullptr;
  CHECK(cudaEventCreateWithFlags(&event, 0x40) == cudaErrorInvalidValue);
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  cudaEvent_t timed = nullptr, untimed = nullptr;
  REQUIRE(cudaEventCreateWithFlags(&timed, cudaEventBlockingSync) == cudaSuccess);
  REQUIRE(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming) == cudaSuccess);
  for (const cudaEvent_t e : {timed, untimed}) REQUIRE(cudaEventRecord(e, stream) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, timed, untimed) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventElapsedTime(&milliseconds, timed, timed) == cudaSuccess);
  for (const cudaEvent_t e : {timed, untimed}) cudaEventDestroy(e);
  cudaStreamDestroy(stream);
}

TEST_CASE("the engine's events let the host sleep while it waits for them") {
  const auto before = emulated::counts().spins;
  rankscope::kernels::DeviceStream stream;
  rankscope::kernels::DeviceEvent event;
  event.record(stream);
  event.wait();
  CHECK(emulated::counts().spins == before);
  cudaEvent_t spinning = nullptr;
  REQUIRE(cudaEventCreateWithFlags(&spinning, cudaEventDefault) == cudaSuccess);
  REQUIRE(cudaEventSynchronize(spinning) == cudaSuccess);
  CHECK(emulated::counts().spins == before + 1);
  cudaEventDestroy(spinning);
}
