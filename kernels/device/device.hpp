// A device runs ops and holds their tensors: the host itself, or a GPU. Everything above (lanes, communicators, arenas)
// enqueues on a Queue and never asks which of the two it is.
//
// On a GPU a queue is a stream: calls return before what they ask for is done, and things in one queue happen in order.
// On the host a call is done when it returns; marks are null there, and nothing waits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string_view>

#include "kernels/tensor/type.hpp"

namespace rankscope {

/// An error of a device, in its own words.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A place in a queue: everything that was enqueued before. There is none that was not put into its queue, so nobody
/// can wait for one too early (waiting for a CUDA event that was never recorded waits for nothing).
class Moment {
 public:
  virtual ~Moment() = default;
  /// Everything before it is done. Throws DeviceError when something of it failed.
  virtual bool reached() const = 0;
  /// Blocks the calling thread until it is reached.
  virtual void wait() const = 0;
  /// When it was reached, on the host's monotonic clock; see Device::clock_uncertainty_ns. Must be reached.
  virtual std::int64_t time_ns() const = 0;
};
/// Null: reached already.
using Mark = std::shared_ptr<const Moment>;

/// Memory that frees itself.
using Memory = std::shared_ptr<std::byte>;

/// A queue of work. One thread at a time.
class Queue {
 public:
  virtual ~Queue() = default;
  virtual void* handle() const = 0;  ///< for kernels::Stream
  /// Either end may be the device's memory or the host's (Device::reserve_host's, or the call waits). Nothing to
  /// nowhere, and a copy onto itself, are allowed.
  virtual void copy(void* to, const void* from, std::int64_t bytes) = 0;
  virtual void fill(void* to, std::uint8_t byte, std::int64_t bytes) = 0;
  /// into[k][i] = parts[0][i] + parts[1][i] + … for every k, rounded once (kernels/tensor/sum.hpp). What is written may
  /// be one of the parts. At least one part.
  virtual void sum(DType type, std::span<void* const> into, std::span<const void* const> parts,
                   std::int64_t elements) = 0;
  virtual Mark mark() = 0;
  /// What is enqueued after this happens after the mark; the calling thread waits only if it is what does the work.
  virtual void wait_for(const Mark& mark) = 0;
};

/// All calls from any thread.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view name() const = 0;  ///< "cpu", "cuda"
  /// Its memory is the host's, and work is done on the thread that enqueues it.
  virtual bool is_host() const = 0;
  /// Makes it the calling thread's own: once by every thread before its first launch.
  virtual void use() = 0;
  /// Aligned to at least 64 bytes, content unspecified. Throws DeviceError or std::bad_alloc.
  virtual Memory reserve(std::int64_t bytes) = 0;
  /// Memory that the host reads and writes, and that queues copy from and to without waiting.
  virtual Memory reserve_host(std::int64_t bytes) = 0;
  virtual std::unique_ptr<Queue> make_queue() = 0;
  /// Device memory that is taken beside what was reserved here: by the driver's context, the code of kernels and the
  /// libraries that use the device, and by others who do. It grows until all that is launched was launched once.
  virtual std::int64_t context_bytes() const = 0;
  /// Fits the device's clock to the host's once more; marks made from now on are told by it. False: the device
  /// was busy, and the fit before stays.
  virtual bool fit_clock() = 0;
  /// Greatest error of Moment::time_ns by the latest fit.
  virtual std::int64_t clock_uncertainty_ns() const = 0;
  /// What the calling thread enqueues between the two is called so by the device's profilers.
  virtual void begin_range(const char*) {}
  virtual void end_range() {}
  /// Held by whoever wants the device for itself while it measures: ranks may share it.
  std::mutex& turn() { return turn_; }

 private:
  std::mutex turn_;
};

}  // namespace rankscope
