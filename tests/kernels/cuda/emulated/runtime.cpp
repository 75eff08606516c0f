// The functions of CUDA's runtime, over the emulated devices of gpu.hpp.
#include "runtime.hpp"

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "gpu.hpp"

using namespace emulated;

namespace {

bool is_host_pageable(const void* data) {
  if (gpu_of(data) != nullptr) return false;
  Node& n = node();
  const std::lock_guard lock(n.mutex);
  const auto* at = static_cast<const std::byte*>(data);
  const auto after = n.pinned.upper_bound(const_cast<std::byte*>(at));
  if (after == n.pinned.begin()) return true;
  const auto& [begin, bytes] = *std::prev(after);
  return at >= begin + bytes;
}

/// A copy may be on another device's stream; it accesses the devices that have its ends.
cudaError_t enqueue_copy(cudaStream_t handle, void* to, const void* from, std::size_t bytes) {
  Gpu& gpu = stream_of(handle).gpu;
  if (gpu.has_failed()) return cudaErrorLaunchFailure;
  push(handle, [=] { transfer({to, from}, [=] { std::memmove(to, from, bytes); }); });
  return cudaSuccess;
}

}  // namespace

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
    case cudaErrorNotReady: return "cudaErrorNotReady";
    case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
  }
  return "unknown";
}
const char* cudaGetErrorString(cudaError_t error) {
  if (error != cudaErrorLaunchFailure) return cudaGetErrorName(error);
  static thread_local std::string why;
  why = "a device failed";
  for (Gpu& gpu : node().gpus) {
    const std::lock_guard lock(gpu.mutex);
    if (!gpu.failure.empty()) why = gpu.failure;
  }
  return why.c_str();
}
cudaError_t cudaGetLastError() { return current_gpu().has_failed() ? cudaErrorLaunchFailure : cudaSuccess; }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = gpu_count;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device < 0 || device >= gpu_count) return cudaErrorInvalidValue;
  *properties = {};
  std::strcpy(properties->name, "emulated");
  const Model model = model_of(device);
  properties->major = model.major, properties->minor = model.minor;
  properties->multiProcessorCount = 1;
  properties->totalGlobalMem = memory_bytes;
  properties->pciBusID = device + 1;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= gpu_count) return cudaErrorInvalidValue;
  current_device() = device;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = current_device();
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int device) {
  if (device < 0 || device >= gpu_count) return cudaErrorInvalidValue;
  *value = model_of(device).shared_bytes;
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  Gpu& gpu = current_gpu();
  const std::lock_guard lock(gpu.mutex);
  *total = *free = memory_bytes;
  *free -= gpu.taken;
  for (const auto& [begin, bytes] : gpu.allocated) *free -= bytes;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  Gpu& gpu = current_gpu();
  bytes = (bytes + granule - 1) / granule * granule;
  std::size_t at = 0;
  {
    const std::lock_guard lock(gpu.mutex);
    for (const auto& [begin, taken] : gpu.allocated) {
      if (begin - at >= bytes) break;
      at = begin + taken;
    }
    if (at + bytes > memory_bytes) return cudaErrorMemoryAllocation;
    gpu.allocated[at] = bytes;
  }
  ++node().allocations;
  *data = gpu.memory + at;
  // NaN, which cannot be mistaken for zeros
  work_on({&gpu}, [&] { std::memset(gpu.memory + at, 0xFF, bytes); });
  return cudaSuccess;
}
cudaError_t cudaFree(void* data) {
  if (data == nullptr) {
    ++node().frees_of_nothing;
    return cudaSuccess;
  }
  Gpu* const gpu = gpu_of(data);
  if (gpu == nullptr) return cudaErrorInvalidValue;
  std::map<emulated::Stream*, std::shared_ptr<emulated::Stream>> streams;  // kept alive during the wait
  {
    const std::lock_guard lock(gpu->mutex);
    streams = gpu->streams;
  }
  for (const auto& [handle, stream] : streams) wait_until_idle(*stream);
  const std::lock_guard lock(gpu->mutex);
  const auto found = gpu->allocated.find(static_cast<std::size_t>(static_cast<std::byte*>(data) - gpu->memory));
  if (found == gpu->allocated.end()) return cudaErrorInvalidValue;
  gpu->forget(found->first, found->second);
  gpu->allocated.erase(found);
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned) {
  bytes = (bytes + granule - 1) / granule * granule;
  *data = std::aligned_alloc(granule, bytes);
  const std::lock_guard lock(node().mutex);
  node().pinned[static_cast<std::byte*>(*data)] = bytes;
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* data) {
  {
    const std::lock_guard lock(node().mutex);
    node().pinned.erase(static_cast<std::byte*>(data));
  }
  std::free(data);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* handle, unsigned flags) {
  if (flags != cudaStreamNonBlocking) return cudaErrorInvalidValue;  // see runtime.hpp
  Gpu& gpu = current_gpu();
  const auto owned = std::make_shared<emulated::Stream>(gpu);
  emulated::Stream* const stream = owned.get();
  {
    const std::lock_guard lock(node().mutex);
    stream->draw = ++node().made << 32;
  }
  {
    const std::lock_guard lock(gpu.mutex);
    gpu.streams[stream] = owned;
  }
  stream->thread = std::thread([stream] { run_stream(*stream); });
  *handle = stream;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  emulated::Stream& stream = stream_of(handle);
  {
    const std::lock_guard lock(stream.mutex);
    stream.closing = true;
  }
  stream.changed.notify_all();
  stream.thread.join();  // enqueued work is completed before
  Gpu& gpu = stream.gpu;
  const std::lock_guard lock(gpu.mutex);
  gpu.streams.erase(&stream);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  wait_until_idle(stream_of(handle));
  return cudaGetLastError();
}
cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
  Node& n = node();
  ++n.waits;
  const std::shared_ptr<Event::Place> place = event->latest();
  if (!place) {
    ++n.waits_for_nothing;
    return cudaSuccess;
  }
  {
    const std::lock_guard lock(n.mutex);
    if (n.pace.ignores_waits) return cudaSuccess;
  }
  push(handle, [place] { place->wait(); });
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t handle) {
  const cudaError_t error = enqueue_copy(handle, to, from, bytes);
  // Memory that is not pinned is staged, and the call waits.
  if (error == cudaSuccess && (is_host_pageable(to) || is_host_pageable(from))) return cudaStreamSynchronize(handle);
  return error;
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t handle) {
  return enqueue(handle, [to, value, bytes] { std::memset(to, value, bytes); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  if ((flags & ~(cudaEventBlockingSync | cudaEventDisableTiming)) != 0) return cudaErrorInvalidValue;
  *event = new Event(current_gpu(), flags);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;  // its places live as long as a stream needs them
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  if (&event->gpu != &stream_of(handle).gpu) return cudaErrorInvalidResourceHandle;
  if (event->gpu.has_failed()) return cudaErrorLaunchFailure;
  ++node().events;
  const auto place = std::make_shared<Event::Place>();
  {
    const std::lock_guard lock(event->mutex);
    event->place = place;
  }
  push(handle, [place] {
    const std::lock_guard lock(place->mutex);
    place->reached = true;
    place->stamp_ns = now_ns();
    place->changed.notify_all();
  });
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (event->gpu.has_failed()) return cudaErrorLaunchFailure;
  const auto place = event->latest();
  return !place || place->is_reached() ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if ((event->flags & cudaEventBlockingSync) == 0) ++node().spins;
  if (const auto place = event->latest()) place->wait();
  return event->gpu.has_failed() ? cudaErrorLaunchFailure : cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  if (&from->gpu != &to->gpu || ((from->flags | to->flags) & cudaEventDisableTiming) != 0)
    return cudaErrorInvalidResourceHandle;
  std::int64_t stamps[2];
  int i = 0;
  for (const cudaEvent_t event : {from, to}) {
    const auto place = event->latest();
    if (!place) return cudaErrorInvalidResourceHandle;
    if (!place->is_reached()) return cudaErrorNotReady;
    stamps[i++] = place->stamp_ns;
  }
  std::int64_t slow_by = 0;
  {
    const std::lock_guard lock(node().mutex);
    slow_by = node().pace.slow_by;
  }
  const double rate = 1 - 1e-6 * static_cast<double>(slow_by);
  *milliseconds = static_cast<float>(static_cast<double>(stamps[1] - stamps[0]) * rate * 1e-6);
  return cudaSuccess;
}
