// The fit between ranks' clocks: they may be on different hosts.
#pragma once
#include <cstdint>

#include "engine/execute/comm/communicator.hpp"

namespace rankscope {

/// The zero of a run's times, on this rank's clock (monotonic_ns): the same time on every rank.
struct CommonStart {
  std::int64_t start_ns = 0;
  std::int64_t uncertainty_ns = 0;  ///< the largest error relative to rank 0
};

/// Collective. Fits this rank's clock to rank 0's by round trips (as NTP and Score-P do): rank 0 sends a request, this
/// rank answers with its time; the shortest round trip is used, with that time at its middle, so the error is at most
/// half of it. The zero is when rank 0 has all fits.
CommonStart fit_clock(World& world);

}  // namespace rankscope
