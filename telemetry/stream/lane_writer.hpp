// The interface by which a lane's thread passes its detail to the publisher: three rings, and a count of dropped rows.
#pragma once
#include <atomic>
#include <cstdint>

#include "telemetry/event/event.hpp"
#include "telemetry/stream/bell.hpp"
#include "telemetry/stream/ring.hpp"

namespace rankscope {

/// One lane's writer of the rings. All calls are wait-free; one thread at a time.
class LaneWriter {
 public:
  void span(const Span& span) {
    if (is_kept(span.step) && !put(spans_, span)) return drop(span.begin_ns, span.end_ns);
    if (pending_.events != 0) report_gap();
  }
  void phase(const PhaseSpan& phase) {
    if (is_kept(phase.step) && !put(phases_, phase)) drop(phase.begin_ns, phase.end_ns);
  }
  void memory(const MemorySample& sample) {
    if (is_kept(sample.step) && !put(memory_, sample)) drop(sample.time_ns, sample.time_ns);
  }
  /// Whether detail of this step is kept.
  bool is_kept(std::uint32_t step) const { return every_ == 1 || step % every_ == 0; }

  std::int32_t rank() const { return rank_; }
  /// Rows accepted and rows dropped so far; any thread.
  std::int64_t emitted() const {
    return static_cast<std::int64_t>(spans_.pushed() + phases_.pushed() + memory_.pushed());
  }
  std::int64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

  /// `bell` rings when a ring may have become half full.
  LaneWriter(std::int32_t rank, Obtained obtained, ClockDomain clock, std::uint32_t every, std::size_t ring_rows,
             Bell& bell);

 private:
  friend class BatchFormer;
  static constexpr unsigned ring_filled = 1;  // the reason for ringing the bell
  template <class Row>
  bool put(SpscRing<Row>& ring, const Row& row) {
    if (!ring.push(row)) return false;
    if (ring.pushed() % (ring.capacity() / 2) == 0) bell_.ring(ring_filled);
    return true;
  }
  void drop(std::int64_t begin_ns, std::int64_t end_ns);
  void report_gap();

  const std::int32_t rank_;
  const Obtained obtained_;
  const ClockDomain clock_;
  const std::uint32_t every_;
  Bell& bell_;
  SpscRing<Span> spans_;
  SpscRing<PhaseSpan> phases_;
  SpscRing<MemorySample> memory_;
  SpscRing<Gap> gaps_;
  Gap pending_;  // used by the producer only: drops not yet reported to the consumer
  std::atomic<std::int64_t> dropped_{0};
  // Used by the consumer only: the drops it has reported, and the lane's latest time.
  std::int64_t reported_drops_ = 0, latest_ns_ = 0;
};

}  // namespace rankscope
