// When a recorded run's events happened, where its ranks' clocks differ.
#pragma once
#include <optional>
#include <string>

#include "telemetry/event/time_range.hpp"

namespace rankscope {

/// From the first event's begin to the last one's end on rank 0's clock: each rank's stamps are moved by the offset
/// that was fitted for its clock (ClockRecord). nullopt: no clock differs, so that TraceInfo's times hold. Reads on
/// only while the offset of some rank is unknown or not 0. Throws TraceError, as read_trace does.
std::optional<TimeRange> fitted_times(const std::string& path);

}  // namespace rankscope
