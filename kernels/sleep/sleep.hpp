// The kernels that do not compute: an op of the kernel set `sleep` sleeps its predicted cost, so that any number of
// ranks can keep true time on two cores.
#pragma once
#include <cstdint>

namespace rankscope::kernels {

/// Asks the kernel for its finest timer on the calling thread (Linux delays wake-ups by 50 µs otherwise). Each lane's
/// thread calls it once.
void sleep_precisely();

/// Sleeps until CLOCK_MONOTONIC reads `deadline_ns`; returns how much later it woke, in ns. Never spins.
std::int64_t sleep_until(std::int64_t deadline_ns);

/// Sleeps `ns` from now. Wakes late by the scheduler's latency; a chain of ops that must not drift sleeps until
/// deadlines instead.
std::int64_t sleep_for(std::int64_t ns);

/// CLOCK_MONOTONIC, ns.
std::int64_t monotonic_ns();

}  // namespace rankscope::kernels
