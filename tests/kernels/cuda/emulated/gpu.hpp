// The parts of the emulated GPUs: events, streams, devices, and the machine with them. Only for this folder's files.
#pragma once
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime.hpp"

namespace emulated {

struct Gpu;

/// Each recording creates a new place; a wait for an older place does not change.
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

inline constexpr std::size_t memory_bytes = std::size_t{1} << 30;
inline constexpr std::size_t context_bytes = std::size_t{32} << 20;
inline constexpr std::size_t granule = 256;
inline constexpr std::size_t shared_without_asking = 48 << 10;

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

struct Gpu {
  std::mutex working;  ///< held by the only piece of work that runs
  std::byte* memory = nullptr;

  std::mutex mutex;                              ///< guards the members below
  std::map<std::size_t, std::size_t> allocated;  ///< begin, bytes
  std::size_t taken = context_bytes;             ///< without an address that can be freed
  Model model;
  std::map<Stream*, std::shared_ptr<Stream>> streams;
  std::map<const void*, std::size_t> shared_allowed;  ///< by kernel: requested dynamic shared memory
  std::string failure;

  Gpu();
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
  void open();  ///< its memory can be accessed until close()
  void close();
  /// Returns the pages of these bytes to the system: the time of open() and close() grows with the number of pages.
  void forget(std::size_t begin, std::size_t bytes);
};

struct Node {
  std::array<Gpu, gpu_count> gpus;
  const bool loads_code_ahead;
  Node();

  std::mutex mutex;  ///< guards the members below
  std::map<std::byte*, std::size_t> pinned;
  Pace pace;
  std::uint64_t made = 0;

  std::atomic<std::uint64_t> works{0}, waits{0}, waits_for_nothing{0}, allocations{0}, launches{0}, spins{0},
      frees_of_nothing{0}, events{0};
};

Node& node();

/// The device that the calling thread has selected with cudaSetDevice.
int& current_device();
Gpu& current_gpu();
/// The device that has this memory; null: none.
Gpu* gpu_of(const void* data);
Model model_of(int device);

std::int64_t now_ns();
/// Runs `work` while only the memory of these devices can be accessed.
void work_on(const std::vector<Gpu*>& gpus, const std::function<void()>& work);

Stream& stream_of(cudaStream_t handle);
/// The thread of a stream: runs its work in order.
void run_stream(Stream& stream);
/// Enqueues a step without work on a device: a wait, or a record.
void push(cudaStream_t handle, std::function<void()> step);
void wait_until_idle(Stream& stream);

}  // namespace emulated
