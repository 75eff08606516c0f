// Sends one rank's events to the publisher.
#pragma once
#include <array>
#include <functional>

#include "engine/execute/run/observer.hpp"
#include "engine/worker/step_marks.hpp"
#include "telemetry/stream/publisher.hpp"

namespace rankscope {

class TelemetryObserver : public RankObserver {
 public:
  /// A step's costs are passed to `trace_to`, for the device clock; empty: nothing is emulated.
  using TraceTo = std::function<void(int rank, std::uint32_t step, const StepTrace& trace)>;
  TelemetryObserver(Publisher& publisher, StepMarks& marks, TraceTo trace_to, int rank);

  void span(Lane lane, const Span& span) override { lanes_[static_cast<std::size_t>(lane)]->span(span); }
  void memory(Lane lane, const MemorySample& sample) override {
    lanes_[static_cast<std::size_t>(lane)]->memory(sample);
  }
  void phase(Lane lane, const PhaseSpan& phase) override { lanes_[static_cast<std::size_t>(lane)]->phase(phase); }
  void step_done(const StepSummary& summary, const StepTrace& trace) override;

 private:
  Publisher& publisher_;
  StepMarks& marks_;
  TraceTo trace_to_;
  int rank_;
  std::array<LaneWriter*, lane_count> lanes_{};
  Publisher::Counts reported_;
};

}  // namespace rankscope
