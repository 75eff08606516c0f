// Deadlines of waits, on the monotonic clock of all stamps.
#pragma once
#include <chrono>

#include "engine/base/host/clock.hpp"

namespace rankscope::comm {

using Clock = std::chrono::steady_clock;

/// The deadline of a wait that begins now; a limit above one year counts as one year, so that the sum cannot overflow.
inline Clock::time_point deadline_after(std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds year = std::chrono::hours(24 * 365);
  return Clock::now() + (limit < year ? limit : year);
}

}  // namespace rankscope::comm
