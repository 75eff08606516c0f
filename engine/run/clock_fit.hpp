// The fit between ranks' clocks: they may be on different hosts.
#pragma once
#include "engine/comm/communicator.hpp"
#include "telemetry/event/event.hpp"

namespace rankscope {

/// Collective. This rank's clock against rank 0's by round trips (as NTP and Score-P do): rank 0 asks, this rank
/// answers with its time; the round trip that took least puts that time at its middle, so the fit is off by at most
/// half of it. `start_ns` is what the run's times count from, on every rank.
ClockRecord fit_clock(World& world, std::int64_t start_ns);

}  // namespace rankscope
