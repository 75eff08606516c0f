// Corrects the times of a recorded run's events for the differences between its ranks' clocks.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "telemetry/event/event.hpp"
#include "telemetry/event/time_range.hpp"

namespace rankscope {

/// The shift of each rank's stamps onto rank 0's clock: the last offset that was fitted (ClockRecord).
using ClockOffsets = std::map<std::int32_t, std::int64_t>;
/// The offsets in a recording; empty: no clock differs. Stops reading once every rank's offset is known to be 0. Throws
/// TraceError, as read_trace does.
ClockOffsets clock_offsets(const std::string& path);
/// 0 for ranks without an offset, and for events that were not measured: they are not on any rank's clock.
std::int64_t offset_of(const ClockOffsets& offsets, std::int32_t rank, const Event& event);

/// From the first event's begin to the last one's end on rank 0's clock. nullopt: no clock differs, so TraceInfo's
/// times are correct. Reads and throws as clock_offsets does.
std::optional<TimeRange> fitted_times(const std::string& path);

}  // namespace rankscope
