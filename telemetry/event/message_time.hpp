// The time of the events in a message.
#pragma once
#include <optional>

#include "telemetry/event/event.hpp"
#include "telemetry/event/time_range.hpp"

namespace rankscope {

/// From the first begin to the last end of its events; nullopt for what has no time (hello, program, end) or no rows.
std::optional<TimeRange> time_of(const Event& event);
/// Rows of a batch; 1 for anything else.
std::int64_t rows_of(const Event& event);

}  // namespace rankscope
