// The kernels that do not compute: an op of the kernel set `sleep` sleeps for its predicted cost, so that any number of
// ranks run with realistic times on two cores.
#pragma once
#include <cstdint>

namespace rankscope::kernels {

/// Requests the operating system's finest timer for the calling thread (Linux delays wake-ups by 50 µs otherwise). Each
/// lane's thread calls it once.
void sleep_precisely();

/// Sleeps until CLOCK_MONOTONIC reads `deadline_ns`; returns the delay of the wake-up in ns. Never spins.
std::int64_t sleep_until(std::int64_t deadline_ns);

/// CLOCK_MONOTONIC, ns.
std::int64_t monotonic_ns();

}  // namespace rankscope::kernels
