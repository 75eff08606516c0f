#include "runtime.hpp"

#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace emulated {

struct Gpu;

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
  Event(Gpu& its_gpu, unsigned its_flags) : gpu(its_gpu), flags(its_flags) {}
  Gpu& gpu;
  const unsigned flags;
  std::mutex mutex;
  std::shared_ptr<Place> place;  ///< null: never recorded
};

namespace {

constexpr std::size_t memory_bytes = std::size_t{1} << 30;
constexpr std::size_t context_bytes = std::size_t{32} << 20;
constexpr std::size_t granule = 256;
constexpr std::size_t shared_without_asking = 48 << 10;

std::int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

struct Stream {
  explicit Stream(Gpu& its_gpu) : gpu(its_gpu) {}
  Gpu& gpu;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> works;
  bool idle = true, closing = false;
  std::uint64_t draw = 0;
  std::thread thread;
};

}  // namespace

struct Gpu {
  std::mutex working;  ///< held by the one piece of work that runs
  std::byte* memory = nullptr;

  std::mutex mutex;                              ///< guards what follows
  std::map<std::size_t, std::size_t> allocated;  ///< begin, bytes
  std::size_t taken = context_bytes;             ///< of which nobody holds an address
  Model model;
  std::map<Stream*, std::shared_ptr<Stream>> streams;
  std::map<const void*, std::size_t> shared_allowed;  ///< by kernel: dynamic shared memory that was asked for
  std::string failure;

  Gpu() {
    void* data = mmap(nullptr, memory_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) std::abort();
    memory = static_cast<std::byte*>(data);
  }
  bool holds(const void* data) const {
    const auto* at = static_cast<const std::byte*>(data);
    return at >= memory && at < memory + memory_bytes;
  }
  bool has_failed() {
    const std::lock_guard lock(mutex);
    return !failure.empty();
  }
  void fail(const char* why) {
    const std::lock_guard lock(mutex);
    if (failure.empty()) failure = why;
  }
  void open() { mprotect(memory, memory_bytes, PROT_READ | PROT_WRITE); }
  void close() { mprotect(memory, memory_bytes, PROT_NONE); }
};

namespace {

/// What a program finds in its machine.
bool asked_to_load_ahead() {
  const char* const how = std::getenv("CUDA_MODULE_LOADING");
  return how != nullptr && std::strcmp(how, "EAGER") == 0;
}

/// How many queues are kept apart, as CUDA reads it at its first call: a line for tests.
void note_connections() {
  const char* const notes = std::getenv("EMULATED_GPU_NOTES");
  const char* const asked = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  if (notes != nullptr)
    std::ofstream(notes, std::ios::app) << "connections " << (asked != nullptr ? asked : "8") << std::endl;
}

struct Node {
  std::array<Gpu, gpu_count> gpus;
  const bool loads_code_ahead = asked_to_load_ahead();
  Node() { note_connections(); }

  std::mutex mutex;  ///< guards what follows
  std::map<std::byte*, std::size_t> pinned;
  Pace pace;
  std::uint64_t made = 0;

  std::atomic<std::uint64_t> works{0}, waits{0}, waits_for_nothing{0}, allocations{0}, launches{0}, spins{0},
      frees_of_nothing{0}, events{0};
};

Node& node() {
  static Node* const the_node = new Node;  // outlives every static of the program
  return *the_node;
}

thread_local int current = 0;  // cudaSetDevice's
Gpu& current_gpu() { return node().gpus[static_cast<std::size_t>(current)]; }

Gpu* gpu_of(const void* data) {
  for (Gpu& gpu : node().gpus)
    if (gpu.holds(data)) return &gpu;
  return nullptr;
}

/// A device's memory is within reach as long as this is there.
class Opened {
 public:
  explicit Opened(Gpu& gpu) : gpu_(gpu) { gpu_.open(); }
  ~Opened() { gpu_.close(); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

 private:
  Gpu& gpu_;
};

/// These devices at work: their memory is within reach only now. In the order of their addresses, so that nobody waits
/// for who waits for him.
template <class Work>
void work_on(const std::vector<Gpu*>& gpus, const Work& work) {
  std::vector<std::unique_lock<std::mutex>> locks;
  for (Gpu* gpu : gpus) locks.emplace_back(gpu->working);
  for (Gpu* gpu : gpus) gpu->open();
  try {
    work();
  } catch (const std::exception& error) {
    for (Gpu* gpu : gpus) gpu->fail(error.what());
  }
  for (Gpu* gpu : gpus) gpu->close();
  ++node().works;
}

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

void dawdle(Stream& stream) {
  Pace pace;
  {
    const std::lock_guard lock(node().mutex);
    pace = node().pace;
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
  if (gpu_of(data) != nullptr) return false;
  Node& n = node();
  const std::lock_guard lock(n.mutex);
  const auto* at = static_cast<const std::byte*>(data);
  const auto after = n.pinned.upper_bound(const_cast<std::byte*>(at));
  if (after == n.pinned.begin()) return true;
  const auto& [begin, bytes] = *std::prev(after);
  return at >= begin + bytes;
}

Stream& stream_of(cudaStream_t handle) { return *static_cast<Stream*>(handle); }

/// A copy may go to another device's stream, and touches what holds its ends.
cudaError_t enqueue_copy(cudaStream_t handle, void* to, const void* from, std::size_t bytes) {
  Gpu& gpu = stream_of(handle).gpu;
  if (gpu.has_failed()) return cudaErrorLaunchFailure;
  push(handle, [=] { transfer({to, from}, [=] { std::memmove(to, from, bytes); }); });
  return cudaSuccess;
}

}  // namespace

cudaError_t enqueue(cudaStream_t stream, std::function<void()> work) {
  if (stream == nullptr) {
    const std::lock_guard lock(current_gpu().working);  // on memory of the host too; it throws where it is called
    const Opened opened(current_gpu());
    work();
    return cudaSuccess;
  }
  Gpu& gpu = stream_of(stream).gpu;
  if (&gpu != &current_gpu()) return cudaErrorInvalidResourceHandle;
  if (gpu.has_failed()) return cudaErrorLaunchFailure;
  push(stream, [&gpu, work = std::move(work)] { work_on({&gpu}, work); });
  return cudaSuccess;
}

cudaError_t enqueue_waiting(cudaStream_t stream, std::function<void()> work) {
  Gpu& gpu = stream_of(stream).gpu;
  if (&gpu != &current_gpu()) return cudaErrorInvalidResourceHandle;
  if (gpu.has_failed()) return cudaErrorLaunchFailure;
  push(stream, std::move(work));
  return cudaSuccess;
}

void transfer(const std::vector<const void*>& touched, const std::function<void()>& work) {
  std::vector<Gpu*> gpus;
  for (Gpu& gpu : node().gpus)
    if (std::any_of(touched.begin(), touched.end(), [&](const void* data) { return gpu.holds(data); }))
      gpus.push_back(&gpu);
  work_on(gpus, work);
}

bool loads_code_ahead() { return node().loads_code_ahead; }

void set_pace(Pace pace) {
  const std::lock_guard lock(node().mutex);
  node().pace = pace;
}

Counts counts() {
  const Node& n = node();
  return {n.works, n.waits, n.waits_for_nothing, n.allocations, n.launches, n.spins, n.frees_of_nothing, n.events};
}

namespace {
Model model_of(int device) {
  Gpu& gpu = node().gpus[static_cast<std::size_t>(device)];
  const std::lock_guard lock(gpu.mutex);
  return gpu.model;
}
}  // namespace
void set_model(int device, Model model) {
  Gpu& gpu = node().gpus[static_cast<std::size_t>(device)];
  const std::lock_guard lock(gpu.mutex);
  gpu.model = model;
}
Model current_model() { return model_of(current); }

void count_launch() { ++node().launches; }

cudaError_t allow_shared(const void* kernel, int bytes) {
  if (bytes < 0 || bytes > current_model().shared_bytes) return cudaErrorInvalidValue;
  Gpu& gpu = current_gpu();
  const std::lock_guard lock(gpu.mutex);
  gpu.shared_allowed[kernel] = static_cast<std::size_t>(bytes);
  return cudaSuccess;
}

bool may_launch(const void* kernel, dim3 block, std::size_t shared_bytes) {
  const int bound = launch_bound(kernel);
  if (bound > 0 && std::size_t{block.x} * block.y * block.z > static_cast<std::size_t>(bound)) return false;
  if (shared_bytes <= shared_without_asking) return true;
  Gpu& gpu = current_gpu();
  const std::lock_guard lock(gpu.mutex);
  const auto allowed = gpu.shared_allowed.find(kernel);
  return allowed != gpu.shared_allowed.end() && shared_bytes <= allowed->second;
}

void take(std::int64_t bytes) {
  Gpu& gpu = current_gpu();
  const std::lock_guard lock(gpu.mutex);
  gpu.taken += static_cast<std::size_t>(bytes);
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
  current = device;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = current;
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
  // NaN: nothing that could be taken for zeros
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
  std::map<emulated::Stream*, std::shared_ptr<emulated::Stream>> streams;  // kept while they are waited for
  {
    const std::lock_guard lock(gpu->mutex);
    streams = gpu->streams;
  }
  for (const auto& [handle, stream] : streams) wait_until_idle(*stream);
  const std::lock_guard lock(gpu->mutex);
  return gpu->allocated.erase(static_cast<std::size_t>(static_cast<std::byte*>(data) - gpu->memory)) > 0
             ? cudaSuccess
             : cudaErrorInvalidValue;
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
  if (flags != cudaStreamNonBlocking) return cudaErrorInvalidValue;  // see above
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
  stream.thread.join();  // what is enqueued is done first
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
