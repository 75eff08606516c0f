// The difference between a device's timer and the host's clock, from events that the host receives some time after the
// timer stamped them, never before: so the smallest recent difference is the most accurate. It is too large by the
// shortest delay (some microseconds). The two clocks drift slowly: values older than two seconds are dropped.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

namespace rankscope::comm {

class DeviceTimer {
 public:
  /// An event with this stamp was reported now.
  void add_sample(std::int64_t now_ns, std::int64_t timer_ns) {
    if (now_ns - since_ns_ > window_ns) {
      before_ns_ = now_ns - since_ns_ > 2 * window_ns ? unknown : least_ns_;
      least_ns_ = unknown;
      since_ns_ = now_ns;
    }
    least_ns_ = std::min(least_ns_, now_ns - timer_ns);
  }
  /// Valid after the first report.
  std::int64_t on_host(std::int64_t timer_ns) const { return timer_ns + std::min(least_ns_, before_ns_); }

 private:
  static constexpr std::int64_t window_ns = 1'000'000'000, unknown = std::numeric_limits<std::int64_t>::max();
  std::int64_t since_ns_ = 0, least_ns_ = unknown, before_ns_ = unknown;
};

}  // namespace rankscope::comm
