// The part of CUDA's runtime that kernels/cuda and the engine use, on the host: streams are threads that run their work
// in order and at their own pace, the host and other devices' kernels cannot access a device's memory, and events that
// were never recorded cause no wait. Work on the null stream is done at once. Objects of another device than the
// calling thread's are refused where CUDA refuses them.
//
// At the first call the file in the environment variable EMULATED_GPU_NOTES, if set, gets a line with the number of
// queues that CUDA keeps separate ("connections N").
//
// Streams that would wait for the null stream are refused: here, work on it is not ordered with theirs. An event
// without timing has no times, a host that would spin for an event is counted, and what a kernel's launch must request
// (more than 48 KiB of shared memory) or must not exceed (its launch bounds) is checked as in CUDA.
//
// A device runs one piece of work at a time, which never waits; a wait (for events, for peers in a collective) blocks
// only its own stream.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "emulator.hpp"

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorLaunchFailure = 719,
};
enum cudaMemcpyKind { cudaMemcpyDefault = 4 };
enum cudaDeviceAttr { cudaDevAttrMaxSharedMemoryPerBlockOptin = 97 };
inline constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1, cudaHostAllocPortable = 1;
inline constexpr unsigned cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2;

namespace emulated {
struct Event;
}
using cudaStream_t = void*;
using cudaEvent_t = emulated::Event*;

struct cudaDeviceProp {
  char name[256];
  int major, minor, multiProcessorCount, l2CacheSize;
  int pciDomainID, pciBusID, pciDeviceID;
  std::size_t totalGlobalMem;
};

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaMalloc(void** data, std::size_t bytes);
cudaError_t cudaFree(void* data);  ///< waits for the device, as CUDA's does
cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void* data);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to);

namespace emulated {

inline constexpr int gpu_count = 4;

/// The properties of a device; of compute capability 9.0 unless a test sets another.
struct Model {
  int major = 9, minor = 0;
  int shared_bytes = 227 << 10;  ///< of a block, if requested
};
void set_model(int device, Model model);
/// That of the calling thread's device.
Model current_model();

/// Runs `work` on the device in the order of its stream. An exception fails the device: every later call reports it.
/// Refused if the stream does not belong to the calling thread's device.
cudaError_t enqueue(cudaStream_t stream, std::function<void()> work);

/// The same for a kernel that waits for peers: it blocks its stream, and can access memory only within transfer().
cudaError_t enqueue_waiting(cudaStream_t stream, std::function<void()> work);
/// Runs `work` on the devices that have these addresses: all that it accesses.
void transfer(const std::vector<const void*>& touched, const std::function<void()>& work);

/// Adds this number of bytes of the calling thread's device (negative: subtracts) to the memory used without an
/// allocation of the program: code, libraries. The context, which exists from the beginning, is not included.
void take(std::int64_t bytes);

/// Whether CUDA was configured, before its first call, to load all code at once.
bool loads_code_ahead();

/// How streams run from now on. Their pace is random, from the seed.
struct Pace {
  std::uint64_t seed = 1;
  int greatest_delay_us = 0;   ///< before one in four pieces of work
  bool ignores_waits = false;  ///< cudaStreamWaitEvent does nothing: every edge between streams is missing
  std::int64_t slow_by = 0;    ///< nanoseconds that devices' clocks lose per million
};
void set_pace(Pace pace);

/// Events since the program began.
void count_launch();
/// More than 48 KiB of dynamic shared memory for each block of this kernel, on the calling thread's device.
cudaError_t allow_shared(const void* kernel, int bytes);
/// Whether the calling thread's device accepts such a launch.
bool may_launch(const void* kernel, dim3 block, std::size_t shared_bytes);
struct Counts {
  std::uint64_t works = 0, waits = 0;
  std::uint64_t waits_for_nothing = 0;  ///< for events that were never recorded
  std::uint64_t allocations = 0;        ///< of the device's memory
  std::uint64_t launches = 0;           ///< of kernels
  std::uint64_t spins = 0;              ///< waits of the host for an event without sleeping
  std::uint64_t frees_of_nothing = 0;   ///< each creates a context on the thread's device, if there is none
  std::uint64_t events = 0;             ///< recorded
};
Counts counts();

}  // namespace emulated
