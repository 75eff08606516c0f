// A time range on one clock: half open, in nanoseconds.
#pragma once
#include <cstdint>

namespace rankscope {

struct TimeRange {
  std::int64_t begin_ns = 0, end_ns = 0;
  std::int64_t length() const { return end_ns - begin_ns; }
  bool empty() const { return end_ns <= begin_ns; }
  bool operator==(const TimeRange&) const = default;
};

}  // namespace rankscope
