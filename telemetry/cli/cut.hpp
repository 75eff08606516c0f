// A part of a recording.
#pragma once
#include <cstdint>
#include <optional>

#include "telemetry/event/event.hpp"
#include "telemetry/event/time_range.hpp"
#include "telemetry/trace/fitted_times.hpp"
#include "telemetry/trace/marks.hpp"

namespace rankscope {

struct CutLimits {
  std::optional<std::uint32_t> first_step, last_step;  ///< both included
  std::optional<std::int64_t> from_ns, to_ns;          ///< what overlaps [from, to) on rank 0's clock
};

/// Passes on control messages whole, and of summaries and detail what lies within the limits.
class CutSink : public EventSink {
 public:
  CutSink(EventSink& to, CutLimits limits, ClockOffsets offsets = {})
      : to_(to), limits_(limits), offsets_(std::move(offsets)) {}
  void accept(const Message& message) override;
  /// Whether a mark is of that part. One outside all steps is of no part that is cut by steps.
  bool includes(const TraceMark& mark) const;

 private:
  bool overlaps(std::uint32_t step, TimeRange time, std::int64_t offset_ns) const;
  EventSink& to_;
  const CutLimits limits_;
  const ClockOffsets offsets_;
};

}  // namespace rankscope
