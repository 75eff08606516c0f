#include "engine/worker/telemetry_observer.hpp"

namespace rankscope {

TelemetryObserver::TelemetryObserver(Publisher& publisher, StepMarks& marks, TraceTo trace_to, int rank)
    : publisher_(publisher), marks_(marks), trace_to_(std::move(trace_to)), rank_(rank) {
  for (int lane = 0; lane < lane_count; ++lane)
    lanes_[static_cast<std::size_t>(lane)] = &publisher.lane(rank, static_cast<Lane>(lane));
}

void TelemetryObserver::step_done(const StepSummary& summary, const StepTrace& trace) {
  marks_.finished(rank_, summary.step);
  const Publisher::Counts counts = publisher_.counts(rank_);
  StepSummary counted = summary;
  counted.spans_emitted = counts.emitted - reported_.emitted;
  counted.spans_dropped = counts.dropped - reported_.dropped;
  reported_ = counts;
  publisher_.summary(counted);
  if (trace_to_) trace_to_(rank_, summary.step, trace);
}

}  // namespace rankscope
