#include "runtime.hpp"

#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

namespace emulated {

/// Recording makes a new place; who waits for an older one goes on waiting for that.
struct Event {
  struct Place {
    std::mutex mutex;
    std::condition_variable changed;
    bool reached = false;
    std::int64_t stamp_ns = 0;
    bool is_reached() {
      const std::lock_guard lock(mutex);
      return reached;
    }
    void wait() {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return reached; });
    }
  };
  std::shared_ptr<Place> latest() {
    const std::lock_guard lock(mutex);
    return place;
  }
  std::mutex mutex;
  std::shared_ptr<Place> place;  ///< null: never recorded
};

namespace {

constexpr std::size_t memory_bytes = std::size_t{1} << 30;
constexpr std::size_t granule = 256;

std::int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

struct Stream {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> works;
  bool idle = true, closing = false;
  std::uint64_t draw = 0;
  std::thread thread;
};

/// As there is one GPU in a machine, there is one of these in a program.
struct Gpu {
  std::mutex working;  ///< held by the one piece of work that runs
  std::byte* memory = nullptr;

  std::mutex mutex;                              ///< guards what follows
  std::map<std::size_t, std::size_t> allocated;  ///< begin, bytes
  std::map<std::byte*, std::size_t> pinned;
  std::map<Stream*, std::shared_ptr<Stream>> streams;
  Pace pace;
  std::string failure;
  std::uint64_t made = 0;

  std::atomic<std::uint64_t> works{0}, waits{0}, waits_for_nothing{0}, allocations{0};

  Gpu() {
    void* data = mmap(nullptr, memory_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) std::abort();
    memory = static_cast<std::byte*>(data);
  }
  bool holds(const void* data) const {
    const auto* at = static_cast<const std::byte*>(data);
    return at >= memory && at < memory + memory_bytes;
  }
};

Gpu& gpu() {
  static Gpu* const the_gpu = new Gpu;  // outlives every static of the program
  return *the_gpu;
}

/// The device at work: its memory is within reach only now.
void work_on(Gpu& g, const std::function<void()>& work) {
  const std::lock_guard lock(g.working);
  mprotect(g.memory, memory_bytes, PROT_READ | PROT_WRITE);
  try {
    work();
  } catch (const std::exception& error) {
    const std::lock_guard failing(g.mutex);
    if (g.failure.empty()) g.failure = error.what();
  }
  mprotect(g.memory, memory_bytes, PROT_NONE);
  ++g.works;
}

bool has_failed() {
  const std::lock_guard lock(gpu().mutex);
  return !gpu().failure.empty();
}

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

void dawdle(Stream& stream) {
  Pace pace;
  {
    const std::lock_guard lock(gpu().mutex);
    pace = gpu().pace;
  }
  if (pace.greatest_delay_us == 0) return;
  const std::uint64_t drawn = mixed(pace.seed * 0x9E3779B97F4A7C15u + ++stream.draw);
  if (drawn % 4 == 0)
    std::this_thread::sleep_for(
        std::chrono::microseconds(drawn / 4 % static_cast<std::uint64_t>(pace.greatest_delay_us)));
}

void run_stream(Stream& stream) {
  for (;;) {
    std::function<void()> work;
    {
      std::unique_lock lock(stream.mutex);
      stream.idle = stream.works.empty();
      if (stream.idle) stream.changed.notify_all();
      stream.changed.wait(lock, [&] { return !stream.works.empty() || stream.closing; });
      if (stream.works.empty()) return;
      stream.idle = false;
      work = std::move(stream.works.front());
      stream.works.pop_front();
    }
    dawdle(stream);
    work();
  }
}

/// Puts a step of the stream's own between the pieces of work.
void push(cudaStream_t handle, std::function<void()> step) {
  auto& stream = *static_cast<Stream*>(handle);
  {
    const std::lock_guard lock(stream.mutex);
    stream.works.push_back(std::move(step));
  }
  stream.changed.notify_all();
}

void wait_until_idle(Stream& stream) {
  std::unique_lock lock(stream.mutex);
  stream.changed.wait(lock, [&] { return stream.idle && stream.works.empty(); });
}

bool is_host_pageable(const void* data) {
  Gpu& g = gpu();
  if (g.holds(data)) return false;
  const std::lock_guard lock(g.mutex);
  const auto* at = static_cast<const std::byte*>(data);
  const auto after = g.pinned.upper_bound(const_cast<std::byte*>(at));
  if (after == g.pinned.begin()) return true;
  const auto& [begin, bytes] = *std::prev(after);
  return at >= begin + bytes;
}

}  // namespace

cudaError_t enqueue(cudaStream_t stream, std::function<void()> work) {
  if (stream == nullptr) {
    const std::lock_guard lock(gpu().working);  // on memory of the host; it throws where it is called
    work();
    return cudaSuccess;
  }
  if (has_failed()) return cudaErrorLaunchFailure;
  push(stream, [work = std::move(work)] { work_on(gpu(), work); });
  return cudaSuccess;
}

void set_pace(Pace pace) {
  const std::lock_guard lock(gpu().mutex);
  gpu().pace = pace;
}

Counts counts() {
  const Gpu& g = gpu();
  return {g.works, g.waits, g.waits_for_nothing, g.allocations};
}

}  // namespace emulated

using namespace emulated;

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
  const std::lock_guard lock(gpu().mutex);
  why = gpu().failure;
  return why.c_str();
}
cudaError_t cudaGetLastError() { return has_failed() ? cudaErrorLaunchFailure : cudaSuccess; }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device != 0) return cudaErrorInvalidValue;
  *properties = {};
  std::strcpy(properties->name, "emulated");
  properties->major = 9;
  properties->multiProcessorCount = 1;
  properties->totalGlobalMem = memory_bytes;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidValue; }

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const std::lock_guard lock(gpu().mutex);
  *total = *free = memory_bytes;
  for (const auto& [begin, bytes] : gpu().allocated) *free -= bytes;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  Gpu& g = gpu();
  bytes = (bytes + granule - 1) / granule * granule;
  std::size_t at = 0;
  {
    const std::lock_guard lock(g.mutex);
    for (const auto& [begin, taken] : g.allocated) {
      if (begin - at >= bytes) break;
      at = begin + taken;
    }
    if (at + bytes > memory_bytes) return cudaErrorMemoryAllocation;
    g.allocated[at] = bytes;
  }
  ++g.allocations;
  *data = g.memory + at;
  work_on(g, [&] { std::memset(g.memory + at, 0xFF, bytes); });  // NaN: nothing that could be taken for zeros
  return cudaSuccess;
}
cudaError_t cudaFree(void* data) {
  if (data == nullptr) return cudaSuccess;
  Gpu& g = gpu();
  std::map<emulated::Stream*, std::shared_ptr<emulated::Stream>> streams;  // kept while they are waited for
  {
    const std::lock_guard lock(g.mutex);
    streams = g.streams;
  }
  for (const auto& [handle, stream] : streams) wait_until_idle(*stream);
  const std::lock_guard lock(g.mutex);
  return g.allocated.erase(static_cast<std::size_t>(static_cast<std::byte*>(data) - g.memory)) > 0
             ? cudaSuccess
             : cudaErrorInvalidValue;
}
cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned) {
  bytes = (bytes + granule - 1) / granule * granule;
  *data = std::aligned_alloc(granule, bytes);
  const std::lock_guard lock(gpu().mutex);
  gpu().pinned[static_cast<std::byte*>(*data)] = bytes;
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* data) {
  {
    const std::lock_guard lock(gpu().mutex);
    gpu().pinned.erase(static_cast<std::byte*>(data));
  }
  std::free(data);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* handle, unsigned) {
  const auto owned = std::make_shared<emulated::Stream>();
  emulated::Stream* const stream = owned.get();
  {
    const std::lock_guard lock(gpu().mutex);
    gpu().streams[stream] = owned;
    stream->draw = ++gpu().made << 32;
  }
  stream->thread = std::thread([stream] { run_stream(*stream); });
  *handle = stream;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  auto* stream = static_cast<emulated::Stream*>(handle);
  {
    const std::lock_guard lock(stream->mutex);
    stream->closing = true;
  }
  stream->changed.notify_all();
  stream->thread.join();  // what is enqueued is done first
  const std::lock_guard lock(gpu().mutex);
  gpu().streams.erase(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  wait_until_idle(*static_cast<emulated::Stream*>(handle));
  return cudaGetLastError();
}
cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
  Gpu& g = gpu();
  ++g.waits;
  const std::shared_ptr<Event::Place> place = event->latest();
  if (!place) {
    ++g.waits_for_nothing;
    return cudaSuccess;
  }
  {
    const std::lock_guard lock(g.mutex);
    if (g.pace.ignores_waits) return cudaSuccess;
  }
  push(handle, [place] { place->wait(); });
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t handle) {
  const cudaError_t error = enqueue(handle, [to, from, bytes] { std::memmove(to, from, bytes); });
  // Memory that is not pinned is staged, and the call waits.
  if (error == cudaSuccess && (is_host_pageable(to) || is_host_pageable(from))) return cudaStreamSynchronize(handle);
  return error;
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t handle) {
  return enqueue(handle, [to, value, bytes] { std::memset(to, value, bytes); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new Event;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;  // its places live as long as a stream needs them
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  if (has_failed()) return cudaErrorLaunchFailure;
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
  if (has_failed()) return cudaErrorLaunchFailure;
  const auto place = event->latest();
  return !place || place->is_reached() ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (const auto place = event->latest()) place->wait();
  return cudaGetLastError();
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  std::int64_t stamps[2];
  int i = 0;
  for (const cudaEvent_t event : {from, to}) {
    const auto place = event->latest();
    if (!place) return cudaErrorInvalidResourceHandle;
    if (!place->is_reached()) return cudaErrorNotReady;
    stamps[i++] = place->stamp_ns;
  }
  *milliseconds = static_cast<float>(stamps[1] - stamps[0]) * 1e-6f;
  return cudaSuccess;
}
