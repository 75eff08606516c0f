// The time of the events in a message, and the number of rows of a batch of any kind.
#pragma once
#include <optional>

#include "telemetry/event/event.hpp"
#include "telemetry/event/time_range.hpp"

namespace rankscope {

template <class E>
concept IsBatch = requires(E& event) {
  event.rows;
};

inline TimeRange time_of(const Span& span) { return {span.begin_ns, span.end_ns}; }
inline TimeRange time_of(const MemorySample& sample) { return {sample.time_ns, sample.time_ns}; }
inline TimeRange time_of(const PhaseSpan& phase) { return {phase.begin_ns, phase.end_ns}; }

/// From the first begin to the last end of its events; nullopt if it has no time (hello, program, end) or no rows.
std::optional<TimeRange> time_of(const Event& event);
/// Rows of a batch; 1 for anything else.
std::int64_t rows_of(const Event& event);

}  // namespace rankscope
