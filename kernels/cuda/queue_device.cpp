#include "kernels/cuda/queue_device.hpp"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/range.hpp"
#include "kernels/cuda/sum.hpp"

namespace rankscope::kernels {
namespace {

std::int64_t host_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// An event of the device whose time on the host is known.
struct Anchor {
  DeviceEvent event;
  std::int64_t host_ns = 0, uncertainty_ns = 0;
};

/// Creating an event needs driver time: events that are no longer used are reused.
class Events {
 public:
  std::unique_ptr<DeviceEvent> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<DeviceEvent>();
    std::unique_ptr<DeviceEvent> event = std::move(free_.back());
    free_.pop_back();
    return event;
  }
  void give_back(std::unique_ptr<DeviceEvent> event) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(event));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<DeviceEvent>> free_;
};

class CudaMoment final : public Moment {
 public:
  CudaMoment(std::shared_ptr<Events> events, std::shared_ptr<const Anchor> anchor, DeviceStream& stream)
      : events_(std::move(events)), anchor_(std::move(anchor)), event_(events_->take()) {
    event_->record(stream);
  }
  ~CudaMoment() override { events_->give_back(std::move(event_)); }
  bool reached() const override { return event_->reached(); }
  void wait() const override { event_->wait(); }
  std::int64_t time_ns() const override {
    return anchor_->host_ns + static_cast<std::int64_t>(event_->nanoseconds_since(anchor_->event));
  }
  const DeviceEvent& event() const { return *event_; }

 private:
  std::shared_ptr<Events> events_;
  std::shared_ptr<const Anchor> anchor_;
  std::unique_ptr<DeviceEvent> event_;
};

class CudaClock {
 public:
  /// Best of several: nothing is before the event in its stream, so it only measures the latency of device and driver.
  bool fit() {
    constexpr int tries = 4, tries_of_first = 32;
    constexpr std::int64_t good_ns = 20'000;
    constexpr std::int64_t patience_ns = 2'000'000;
    const std::lock_guard lock(fitting_);
    std::shared_ptr<Anchor> best;
    // Later fits continue the first one within their own range, so a poor first fit would be a jump of all times.
    const auto is_poor = [&] { return !current() && (!best || best->uncertainty_ns > good_ns); };
    for (int i = 0; i < tries || (i < tries_of_first && is_poor()); ++i) {
      const auto anchor = std::make_shared<Anchor>();
      const std::int64_t before = host_ns();
      anchor->event.record(stream_);
      std::int64_t after = before;
      while (!anchor->event.reached()) {
        after = host_ns();
        if (after - before > patience_ns && (best || current())) break;  // the device is busy: retry next time
      }
      if (!anchor->event.reached()) continue;
      after = host_ns();
      anchor->uncertainty_ns = (after - before) / 2;
      anchor->host_ns = before + anchor->uncertainty_ns;
      if (!best || anchor->uncertainty_ns < best->uncertainty_ns) best = anchor;
    }
    if (!best) return false;
    // The previous fit's value, limited to the range of the new one: times do not jump without reason. A value in the
    // middle of the possible range may then be at its edge.
    if (const auto earlier = current()) {
      const std::int64_t middle = best->host_ns,
                         continued = earlier->host_ns +
                                     static_cast<std::int64_t>(best->event.nanoseconds_since(earlier->event));
      best->host_ns = std::clamp(continued, middle - best->uncertainty_ns, middle + best->uncertainty_ns);
      best->uncertainty_ns += std::abs(best->host_ns - middle);
    }
    const std::lock_guard writing(mutex_);
    largest_uncertainty_ns_ = std::max(largest_uncertainty_ns_, best->uncertainty_ns);
    current_ = std::move(best);
    return true;
  }
  /// Of all fits.
  std::int64_t largest_uncertainty_ns() const {
    const std::lock_guard lock(mutex_);
    return largest_uncertainty_ns_;
  }
  std::shared_ptr<const Anchor> current() const {
    const std::lock_guard lock(mutex_);
    return current_;
  }

 private:
  DeviceStream stream_;
  std::mutex fitting_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Anchor> current_;
  std::int64_t largest_uncertainty_ns_ = 0;
};

/// Device functions used by its queues.
struct Shared {
  std::shared_ptr<Events> events = std::make_shared<Events>();
  CudaClock clock;
};

class CudaQueue final : public Queue {
 public:
  explicit CudaQueue(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  void* handle() const override { return stream_.handle(); }
  void copy(void* to, const void* from, std::int64_t bytes) override {
    if (to != from) stream_.copy(to, from, bytes);
  }
  void fill(void* to, std::uint8_t byte, std::int64_t bytes) override { stream_.fill(to, byte, bytes); }
  void sum(DType type, std::span<void* const> into, std::span<const void* const> parts,
           std::int64_t elements) override {
    cuda::sum_parts(type, into, parts, elements, Stream{nullptr, stream_.handle()});
  }
  Mark mark() override { return std::make_shared<CudaMoment>(shared_->events, shared_->clock.current(), stream_); }
  void wait_for(const Mark& mark) override {
    if (!mark) return;
    if (const auto* own = dynamic_cast<const CudaMoment*>(mark.get()))
      stream_.wait_for(own->event());
    else
      mark->wait();
  }

 private:
  std::shared_ptr<Shared> shared_;
  DeviceStream stream_;
};

/// Device memory, counted while it is reserved.
struct Reserved {
  Reserved(std::int64_t bytes, std::shared_ptr<std::atomic<std::int64_t>> its_sum)
      : memory(std::max<std::int64_t>(bytes, 1)), sum(std::move(its_sum)) {
    *sum += memory.bytes();
  }
  ~Reserved() { *sum -= memory.bytes(); }
  Reserved(const Reserved&) = delete;
  Reserved& operator=(const Reserved&) = delete;
  const DeviceMemory memory;
  const std::shared_ptr<std::atomic<std::int64_t>> sum;
};

class CudaEngineDevice final : public Device {
 public:
  explicit CudaEngineDevice(int index) : index_(index) {
    use_cuda_device(index_);
    shared_ = std::make_shared<Shared>();
    shared_->clock.fit();
  }
  std::string_view name() const override { return "cuda"; }
  bool is_host() const override { return false; }
  void use() override { use_cuda_device(index_); }
  Memory reserve(std::int64_t bytes) override {
    const auto memory = std::make_shared<Reserved>(bytes, reserved_);
    return {memory, memory->memory.data()};
  }
  Memory reserve_host(std::int64_t bytes) override {
    const auto memory = std::make_shared<PinnedMemory>(std::max<std::int64_t>(bytes, 1));
    return {memory, memory->data()};
  }
  std::unique_ptr<Queue> make_queue() override { return std::make_unique<CudaQueue>(shared_); }
  void begin_range(const char* name) override { cuda::begin_range(name); }
  void end_range() override { cuda::end_range(); }
  std::int64_t context_bytes() const override { return std::max<std::int64_t>(0, cuda_used_bytes() - *reserved_); }
  bool fit_clock() override { return shared_->clock.fit(); }
  std::int64_t clock_uncertainty_ns() const override { return shared_->clock.largest_uncertainty_ns(); }

 private:
  const int index_;
  const std::shared_ptr<std::atomic<std::int64_t>> reserved_ = std::make_shared<std::atomic<std::int64_t>>(0);
  std::shared_ptr<Shared> shared_;
};

}  // namespace

std::shared_ptr<Device> cuda_device(int index) { return std::make_shared<CudaEngineDevice>(index); }

}  // namespace rankscope::kernels
