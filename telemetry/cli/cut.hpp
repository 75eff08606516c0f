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
  std::optional<std::int64_t> from_ns, to_ns;          ///< events that overlap [from, to) on rank 0's clock
};

/// The steps of what a recording has.
struct StepsSeen {
  std::optional<std::uint32_t> first, last;  ///< empty: nothing with a step
  bool any_within = false;                   ///< something with a step was within the limits
};

/// Passes on all control messages, and the summaries and detail within the limits.
class CutSink : public EventSink {
 public:
  CutSink(EventSink& to, CutLimits limits, ClockOffsets offsets = {})
      : to_(to), limits_(limits), offsets_(std::move(offsets)) {}
  void accept(const Message& message) override;
  /// Whether a mark belongs to this part. A mark outside all steps belongs to no part that is cut by steps.
  bool includes(const TraceMark& mark) const;
  const StepsSeen& steps() const { return steps_; }

 private:
  bool overlaps(std::uint32_t step, TimeRange time, std::int64_t offset_ns) const;
  EventSink& to_;
  const CutLimits limits_;
  const ClockOffsets offsets_;
  StepsSeen steps_;
};

}  // namespace rankscope
