// One rank's events on their way to the publisher.
#pragma once
#include <array>

#include "engine/run/emulated_clock.hpp"
#include "engine/run/observer.hpp"
#include "telemetry/stream/publisher.hpp"

namespace rankscope {

class TelemetryObserver : public RankObserver {
 public:
  /// `device_clock` may be null: then nothing is emulated.
  TelemetryObserver(Publisher& publisher, EmulatedClock* device_clock, int rank);

  void span(Lane lane, const Span& span) override { lanes_[static_cast<std::size_t>(lane)]->span(span); }
  void memory(Lane lane, const MemorySample& sample) override {
    lanes_[static_cast<std::size_t>(lane)]->memory(sample);
  }
  void phase(Lane lane, const PhaseSpan& phase) override { lanes_[static_cast<std::size_t>(lane)]->phase(phase); }
  void step_done(const StepSummary& summary, const StepTrace& trace) override;

 private:
  Publisher& publisher_;
  EmulatedClock* device_clock_;
  int rank_;
  std::array<LaneWriter*, lane_count> lanes_{};
  Publisher::Counts reported_;
};

}  // namespace rankscope
