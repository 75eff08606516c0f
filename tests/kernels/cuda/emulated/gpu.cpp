#include "gpu.hpp"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace emulated {
namespace {

/// As set in the environment.
bool asked_to_load_ahead() {
  const char* const how = std::getenv("CUDA_MODULE_LOADING");
  return how != nullptr && std::strcmp(how, "EAGER") == 0;
}

/// Writes a line for tests: CUDA's number of connections for queues, read at its first call.
void note_connections() {
  const char* const notes = std::getenv("EMULATED_GPU_NOTES");
  const char* const asked = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  if (notes != nullptr)
    std::ofstream(notes, std::ios::app) << "connections " << (asked != nullptr ? asked : "8") << std::endl;
}

/// While it lives, the memory of a device can be accessed.
class Opened {
 public:
  explicit Opened(Gpu& gpu) : gpu_(gpu) { gpu_.open(); }
  ~Opened() { gpu_.close(); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

 private:
  Gpu& gpu_;
};

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

}  // namespace

Gpu::Gpu() {
  void* data = mmap(nullptr, memory_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) std::abort();
  memory = static_cast<std::byte*>(data);
}

void Gpu::open() { mprotect(memory, memory_bytes, PROT_READ | PROT_WRITE); }
void Gpu::close() { mprotect(memory, memory_bytes, PROT_NONE); }

void Gpu::forget(std::size_t begin, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t first = (begin + page - 1) / page * page, last = (begin + bytes) / page * page;
  if (first < last) madvise(memory + first, last - first, MADV_DONTNEED);
}

Node::Node() : loads_code_ahead(asked_to_load_ahead()) { note_connections(); }

Node& node() {
  static Node* const the_node = new Node;  // outlives all static variables of the program
  return *the_node;
}

int& current_device() {
  static thread_local int current = 0;
  return current;
}
Gpu& current_gpu() { return node().gpus[static_cast<std::size_t>(current_device())]; }

Gpu* gpu_of(const void* data) {
  for (Gpu& gpu : node().gpus)
    if (gpu.holds(data)) return &gpu;
  return nullptr;
}

std::int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// In order of their addresses, so that two pieces of work cannot wait for each other.
void work_on(const std::vector<Gpu*>& gpus, const std::function<void()>& work) {
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

Stream& stream_of(cudaStream_t handle) { return *static_cast<Stream*>(handle); }

cudaError_t enqueue(cudaStream_t stream, std::function<void()> work) {
  if (stream == nullptr) {
    const std::lock_guard lock(current_gpu().working);  // on memory of the host too; it throws in the calling thread
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

Model model_of(int device) {
  Gpu& gpu = node().gpus[static_cast<std::size_t>(device)];
  const std::lock_guard lock(gpu.mutex);
  return gpu.model;
}
void set_model(int device, Model model) {
  Gpu& gpu = node().gpus[static_cast<std::size_t>(device)];
  const std::lock_guard lock(gpu.mutex);
  gpu.model = model;
}
Model current_model() { return model_of(current_device()); }

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
