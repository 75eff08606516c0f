// A time range on one clock: half open, in nanoseconds.
#pragma once
#include <algorithm>
#include <cstdint>

namespace rankscope {

struct TimeRange {
  std::int64_t begin_ns = 0, end_ns = 0;
  std::int64_t length() const { return end_ns - begin_ns; }
  bool empty() const { return end_ns <= begin_ns; }
  void include(const TimeRange& other) {
    begin_ns = std::min(begin_ns, other.begin_ns);
    end_ns = std::max(end_ns, other.end_ns);
  }
  bool operator==(const TimeRange&) const = default;
};

}  // namespace rankscope
