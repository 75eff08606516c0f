#include "telemetry/cli/cut.hpp"

#include <algorithm>

#include "telemetry/event/message_time.hpp"

namespace rankscope {

bool CutSink::overlaps(std::uint32_t step, TimeRange time, std::int64_t offset_ns) const {
  if (limits_.first_step && step < *limits_.first_step) return false;
  if (limits_.last_step && step > *limits_.last_step) return false;
  if (limits_.from_ns && time.end_ns + offset_ns < *limits_.from_ns) return false;
  return !limits_.to_ns || time.begin_ns + offset_ns < *limits_.to_ns;
}

bool CutSink::includes(const TraceMark& mark) const {
  if (!mark.step && (limits_.first_step || limits_.last_step)) return false;
  return overlaps(mark.step.value_or(0), mark.time, 0);
}

void CutSink::accept(const Message& message) {
  Message part = message;
  const auto keeps = [&](std::uint32_t step, TimeRange time, std::int64_t offset_ns) {
    steps_.first = std::min(steps_.first.value_or(step), step);
    steps_.last = std::max(steps_.last.value_or(step), step);
    const bool within = overlaps(step, time, offset_ns);
    steps_.any_within |= within;
    return within;
  };
  const auto by = [&](std::int32_t rank) { return offset_of(offsets_, rank, message.event); };
  const bool any = std::visit(
      [&](auto& e) {
        using E = std::decay_t<decltype(e)>;
        if constexpr (IsBatch<E>) {
          std::erase_if(e.rows, [&](const auto& row) { return !keeps(row.step, time_of(row), by(row.rank)); });
          return !e.rows.empty();
        } else if constexpr (std::is_same_v<E, StepSummary>) {
          return keeps(e.step, {e.begin_ns, e.end_ns}, by(e.rank));
        } else if constexpr (std::is_same_v<E, Gap>) {
          // A gap has no step; it is dropped only if its time is outside.
          return (!limits_.from_ns || e.end_ns + by(e.rank) >= *limits_.from_ns) &&
                 (!limits_.to_ns || e.begin_ns + by(e.rank) < *limits_.to_ns);
        } else {
          return true;
        }
      },
      part.event);
  if (any) to_.accept(part);
}

}  // namespace rankscope
