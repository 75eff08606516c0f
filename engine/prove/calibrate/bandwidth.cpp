#include "engine/prove/calibrate/bandwidth.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "engine/base/host/clock.hpp"

namespace rankscope {
namespace {

constexpr std::int64_t least_bytes = 1 << 20;

/// Two ranges of memory and the copy from one to the other.
class Copy {
 public:
  Copy(const Platform& platform, std::int64_t bytes)
      : device_(*platform.device),
        threads_(device_.is_host() ? std::max(1, platform.kernels.options.threads) : 1),
        bytes_(bytes),
        from_(device_.reserve(bytes)),
        to_(device_.reserve(bytes)),
        queue_(device_.make_queue()) {
    if (!device_.is_host()) return;
    std::memset(from_.get(), 1, bytes);  // a page has no memory until it is written
    std::memset(to_.get(), 2, bytes);
  }

  /// Bytes read and written per second.
  double rate() {
    const std::int64_t begun = monotonic_ns();
    const std::int64_t ns = device_.is_host() ? on_threads(begun) : on_queue();
    return ns > 0 ? 2 * static_cast<double>(bytes_) / (static_cast<double>(ns) * 1e-9) : 0;
  }

 private:
  std::int64_t on_threads(std::int64_t begun) {
    const std::int64_t part = bytes_ / threads_;
    const auto copy = [&](std::int64_t thread) {
      std::memcpy(to_.get() + thread * part, from_.get() + thread * part, part);
    };
    std::vector<std::jthread> others;
    for (int t = 1; t < threads_; ++t) others.emplace_back(copy, t);
    copy(0);
    others.clear();  // waits for them
    return monotonic_ns() - begun;
  }
  std::int64_t on_queue() {
    const Mark begun = queue_->mark();
    queue_->copy(to_.get(), from_.get(), bytes_);
    const Mark ended = queue_->mark();
    ended->wait();
    return ended->time_ns() - begun->time_ns();
  }

  Device& device_;
  int threads_;
  std::int64_t bytes_;
  Memory from_, to_;
  std::unique_ptr<Queue> queue_;
};

std::unique_ptr<Copy> largest_copy(const Platform& platform, std::int64_t bytes) {
  for (; bytes >= least_bytes; bytes /= 2) try {
      return std::make_unique<Copy>(platform, bytes);
    } catch (const std::bad_alloc&) {
      // Too little memory: try half the size.
    } catch (const DeviceError&) {
      // The same on a GPU.
    }
  return nullptr;
}

}  // namespace

double measure_memory_bandwidth(const Platform& platform, BandwidthEffort effort) {
  platform.device->use();
  const std::unique_ptr<Copy> copy = largest_copy(platform, effort.bytes);
  if (!copy) return 0;
  const std::int64_t begun = monotonic_ns();
  double best = 0;
  do best = std::max(best, copy->rate());
  while (static_cast<double>(monotonic_ns() - begun) * 1e-9 < effort.seconds);
  return best;
}

}  // namespace rankscope
