// A device runs ops and holds their tensors: the host itself, or a GPU. The code above it (lanes, communicators,
// arenas) enqueues on a Queue and is the same for both.
//
// On a GPU a queue is a stream: calls return before their work is done, and the work of one queue runs in order. On the
// host a call is done when it returns; marks are null there, and nothing waits.
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

/// An error of a device, with the device's own message.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A position in a queue: everything that was enqueued before it. It exists only once it is in its queue, so no thread
/// can wait for one too early (waiting for a CUDA event that was never recorded returns at once).
class Moment {
 public:
  virtual ~Moment() = default;
  /// Everything before it is done. Throws DeviceError if any of it failed.
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
  /// Each end is in the device's memory or the host's (from Device::reserve_host; otherwise the call waits). Zero bytes
  /// from or to null are allowed, and so is a copy onto itself.
  virtual void copy(void* to, const void* from, std::int64_t bytes) = 0;
  virtual void fill(void* to, std::uint8_t byte, std::int64_t bytes) = 0;
  /// into[k][i] = parts[0][i] + parts[1][i] + … for every k, rounded once (kernels/tensor/sum.hpp). An output may be
  /// one of the parts. At least one part.
  virtual void sum(DType type, std::span<void* const> into, std::span<const void* const> parts,
                   std::int64_t elements) = 0;
  virtual Mark mark() = 0;
  /// Work enqueued after this runs after the mark. The calling thread waits only if it does the work itself.
  virtual void wait_for(const Mark& mark) = 0;
};

/// All functions can be called from any thread.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view name() const = 0;  ///< "cpu", "cuda"
  /// Its memory is the host's, and work is done on the thread that enqueues it.
  virtual bool is_host() const = 0;
  /// Selects it for the calling thread: once by every thread before its first launch.
  virtual void use() = 0;
  /// Aligned to at least 256 bytes (tensor_alignment), content unspecified. Throws DeviceError or std::bad_alloc.
  virtual Memory reserve(std::int64_t bytes) = 0;
  /// Memory that the host reads and writes, and that queues copy from and to without waiting.
  virtual Memory reserve_host(std::int64_t bytes) = 0;
  virtual std::unique_ptr<Queue> make_queue() = 0;
  /// Device memory in use that was not reserved here: by the driver's context, the code of kernels, libraries, and
  /// other processes. It grows until every kernel has been launched once.
  virtual std::int64_t context_bytes() const = 0;
  /// Fits the device's clock to the host's again; later marks use the new fit. False: the device was busy, and the
  /// previous fit is kept.
  virtual bool fit_clock() = 0;
  /// Largest error of Moment::time_ns by any fit so far: the marks of a run belong to several fits.
  virtual std::int64_t clock_uncertainty_ns() const = 0;
  /// The device's profilers show the work that the calling thread enqueues between these two calls under this name.
  virtual void begin_range(const char*) {}
  virtual void end_range() {}
  /// Locked by a thread that needs the device alone while it measures: ranks may share a device.
  std::mutex& exclusive_mutex() { return exclusive_mutex_; }

 private:
  std::mutex exclusive_mutex_;
};

}  // namespace rankscope
