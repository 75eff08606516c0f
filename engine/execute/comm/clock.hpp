// The monotonic clock of all stamps in this process.
#pragma once
#include <chrono>
#include <cstdint>

namespace rankscope::comm {

using Clock = std::chrono::steady_clock;

inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

/// The deadline of a wait that begins now; a limit above one year counts as one year, so that the sum cannot overflow.
inline Clock::time_point deadline_after(std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds year = std::chrono::hours(24 * 365);
  return Clock::now() + (limit < year ? limit : year);
}

}  // namespace rankscope::comm
