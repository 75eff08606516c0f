// The producer's side of telemetry: what the executor calls. One Publisher per process; nothing in it ever blocks
// training.
//
// Each lane's thread writes detail (spans, phases, memory samples) into rings of its own: wait-free; a full ring drops
// and counts. One background thread drains the rings, forms batches, writes them to the rank's spool, then sends them
// to the relay within the window that the relay grants. Detail that the window has no room for stays in the spool,
// from where a relay that reaches it fetches it. Control messages and summaries are kept until the relay has them.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "telemetry/event/event.hpp"
#include "telemetry/stream/bell.hpp"
#include "telemetry/stream/join.hpp"
#include "telemetry/stream/ring.hpp"

namespace rankscope {

/// Which detail is kept: --keep all | every:N | last:TIME.
struct KeepPolicy {
  std::uint32_t every = 1;           ///< detail of the steps that this divides; the others' is not produced
  std::chrono::nanoseconds last{0};  ///< the spool keeps at least this much of the latest detail; 0: all
};
/// "all", "every:10", "last:30s" (ns, us, ms, s, min, h); nullopt and a sentence in `error`.
std::optional<KeepPolicy> parse_keep(std::string_view text, std::string* error = nullptr);

struct PublisherOptions {
  SessionId session{};
  std::string spool_directory;  ///< of mode 0700, the same for all ranks of a host; empty: no spool
  Join relay;                   ///< endpoint empty: spool only
  KeepPolicy keep;
  std::function<void(const std::string&)> warn;  ///< told of each trouble of the disk, on the background thread
  std::size_t ring_rows = 8192;   ///< capacity of a lane's ring of spans, of phases and of memory samples
  std::size_t batch_rows = 4096;  ///< of one message at most
  /// Between two drains of the rings; one that gets half full does not wait for it, nor do control and summaries.
  std::chrono::milliseconds period{200};
  std::size_t reliable_messages = 16384;  ///< control and summaries that wait for the relay; more are counted lost
  std::size_t detail_messages = 64;       ///< batches given to detail() that wait for the next drain
  std::chrono::milliseconds silence_limit{5000};  ///< without a word from the relay: connect and repeat
  std::chrono::milliseconds close_limit{2000};    ///< how long the destructor waits for the relay
};

struct PublisherStatus {
  std::int64_t events = 0;            ///< detail rows accepted
  std::int64_t dropped_events = 0;    ///< detail rows lost for good: a ring was full or the row made no sense
  std::int64_t malformed_events = 0;  ///< of these: the latter
  std::int64_t messages = 0;          ///< formed
  std::int64_t bytes = 0;             ///< of these
  std::int64_t reliable_lost = 0;     ///< control messages or summaries that found their queue full; still in the spool
                                      ///< where there is one
  std::int64_t sent = 0;              ///< messages to the relay, repetitions included
  std::int64_t unsent_detail = 0;     ///< messages for which the relay's window had no room: in the spool alone
  std::int64_t waiting = 0;           ///< reliable messages that the relay has not acknowledged
  std::int64_t spool_lost = 0;        ///< messages that the disk did not take
  std::string spool_error;            ///< the disk's last trouble, empty while all is well
  bool connected = false;             ///< the relay answers
  double thread_seconds = 0;          ///< CPU time of the background thread
};

/// One lane's hand in the rings. All calls are wait-free; one thread at a time.
class LaneWriter {
 public:
  void span(const Span& span) {
    if (wanted(span.step) && !put(spans_, span)) return drop(span.begin_ns, span.end_ns);
    if (pending_.events != 0) tell_gap();
  }
  void phase(const PhaseSpan& phase) {
    if (wanted(phase.step) && !put(phases_, phase)) drop(phase.begin_ns, phase.end_ns);
  }
  void memory(const MemorySample& sample) {
    if (wanted(sample.step) && !put(memory_, sample)) drop(sample.time_ns, sample.time_ns);
  }
  /// Whether detail of this step is kept at all.
  bool wanted(std::uint32_t step) const { return every_ == 1 || step % every_ == 0; }

  /// Rows taken and rows dropped so far; any thread.
  std::int64_t emitted() const {
    return static_cast<std::int64_t>(spans_.pushed() + phases_.pushed() + memory_.pushed());
  }
  std::int64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

  /// `bell` rings whenever a ring may have got half full.
  LaneWriter(std::int32_t rank, Obtained obtained, ClockDomain clock, std::uint32_t every, std::size_t ring_rows,
             Bell& bell);

 private:
  friend class Publisher;
  static constexpr unsigned ring_filled = 1;  // why the bell rings
  template <class Row>
  bool put(SpscRing<Row>& ring, const Row& row) {
    if (!ring.push(row)) return false;
    if (ring.pushed() % (ring.capacity() / 2) == 0) bell_.ring(ring_filled);
    return true;
  }
  void drop(std::int64_t begin_ns, std::int64_t end_ns);
  void tell_gap();

  const std::int32_t rank_;
  const Obtained obtained_;
  const ClockDomain clock_;
  const std::uint32_t every_;
  Bell& bell_;
  SpscRing<Span> spans_;
  SpscRing<PhaseSpan> phases_;
  SpscRing<MemorySample> memory_;
  SpscRing<Gap> gaps_;
  Gap pending_;  // the producer's own: drops that the consumer was not told of yet
  std::atomic<std::int64_t> dropped_{0};
  // The consumer's own: what it knows of drops, and how far the lane got.
  std::int64_t told_ = 0, latest_ns_ = 0;
};

class Publisher {
 public:
  /// Throws JoinError for an endpoint that check_publishable refuses or keys that libzmq does. A relay or disk that is
  /// not there is no error: it is in status().
  explicit Publisher(PublisherOptions options);
  /// close(close_limit).
  ~Publisher();
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  /// The writer of that rank and lane, made at the first call; for set-up, not for the hot path. Lives as long as the
  /// publisher.
  LaneWriter& lane(std::int32_t rank, Lane lane, Obtained obtained = Obtained::measured,
                   ClockDomain clock = ClockDomain::wall);

  /// Queues hello, program, clock or end in the name of `rank`; false: its queue is full, and it is counted. A rank's
  /// End goes out after all detail that its lanes wrote before.
  bool control(std::int32_t rank, Event event);
  bool summary(const StepSummary& summary);
  /// Queues a whole batch (of spans, memory samples or phases) formed elsewhere, such as a step's emulated spans;
  /// false: no room, and its rows are counted as dropped.
  bool detail(std::int32_t rank, Event batch);

  /// Rows of that rank taken and dropped so far, over its lanes: what a StepSummary reports.
  struct Counts {
    std::int64_t emitted = 0, dropped = 0;
  };
  Counts counts(std::int32_t rank) const;

  PublisherStatus status() const;
  /// Drains all, and waits at most `limit` until the relay has what is reliable. True if it has, or there is none.
  /// Calls after it are ignored and counted.
  bool close(std::chrono::milliseconds limit);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rankscope
