// Corrects the times of a recorded run's events for the differences between its ranks' clocks.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "telemetry/event/event.hpp"
#include "telemetry/event/time_range.hpp"

namespace rankscope {

/// By how much stamps of each rank's clock are moved to be on rank 0's: the last offset that was fitted (ClockRecord).
using ClockOffsets = std::map<std::int32_t, std::int64_t>;
/// Those of a recording; empty: no clock differs. Reads on only while the offset of some rank is unknown or not 0.
/// Throws TraceError, as read_trace does.
ClockOffsets clock_offsets(const std::string& path);
/// 0 for ranks without one, and for events that were not measured: these are on no rank's clock.
std::int64_t offset_of(const ClockOffsets& offsets, std::int32_t rank, const Event& event);

/// From the first event's begin to the last one's end on rank 0's clock. nullopt: no clock differs, so that TraceInfo's
/// times hold. Reads and throws as clock_offsets does.
std::optional<TimeRange> fitted_times(const std::string& path);

}  // namespace rankscope
