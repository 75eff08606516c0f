// The producer's side of telemetry, called by the executor. One Publisher per process; it never blocks
// training.
//
// Each lane's thread writes detail (spans, phases, memory samples) into its own rings: wait-free; a full ring drops and
// counts. One background thread drains the rings, forms batches, writes them to the rank's spool, then sends them to
// the relay within the window that the relay grants. Detail beyond the window stays in the spool; a relay that can read
// the spool fetches it there. Control messages and summaries are kept until the relay has acknowledged them.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "telemetry/event/event.hpp"
#include "telemetry/stream/join.hpp"
#include "telemetry/stream/keep_policy.hpp"
#include "telemetry/stream/lane_writer.hpp"

namespace rankscope {

struct PublisherOptions {
  SessionId session{};
  std::string spool_directory;  ///< of mode 0700, the same for all ranks of a host; empty: no spool
  Join relay;                   ///< endpoint empty: spool only
  KeepPolicy keep;
  std::function<void(const std::string&)> warn;  ///< called for each disk error, on the background thread
  /// Called once with the reason if the relay does not accept this worker, on the background thread, which retries.
  std::function<void(const std::string&)> refused{};
  std::size_t ring_rows = 8192;   ///< capacity of a lane's ring of spans, of phases and of memory samples
  std::size_t batch_rows = 4096;  ///< of one message at most
  /// Between two drains of the rings. A half-full ring, half of detail_messages passed to detail(), and control do not
  /// wait for it; a summary goes to the spool at once and to the relay with the next drain.
  std::chrono::milliseconds period{200};
  int unwatched_periods = 5;  ///< while no viewer watches, the spool's data go to the relay after this number of drains
  std::size_t reliable_messages = 16384;  ///< control and summaries that wait for the relay; more are counted as lost
  std::size_t detail_messages = 64;       ///< batches passed to detail() that wait for the next drain
  std::chrono::milliseconds silence_limit{5000};  ///< without a message from the relay: connect and repeat
  std::chrono::milliseconds close_limit{2000};    ///< how long the destructor waits for the relay
};

struct PublisherStatus {
  std::int64_t events = 0;            ///< detail rows accepted
  std::int64_t dropped_events = 0;    ///< detail rows lost: a ring was full or the row was invalid
  std::int64_t malformed_events = 0;  ///< of dropped_events: invalid rows
  std::int64_t messages = 0;          ///< formed
  std::int64_t bytes = 0;             ///< of these messages
  std::int64_t reliable_lost = 0;     ///< control messages or summaries not queued because the queue was full; still in
                                      ///< the spool, if any
  std::int64_t sent = 0;              ///< messages to the relay, repetitions included
  std::int64_t unsent_detail = 0;     ///< messages for which the relay's window had no space: only in the spool
  std::int64_t waiting = 0;           ///< reliable messages that the relay has not acknowledged
  std::int64_t spool_lost = 0;        ///< messages that could not be written to disk
  std::string spool_error;            ///< the disk's last error, empty if there is none
  bool connected = false;             ///< the relay answers
  double thread_seconds = 0;          ///< CPU time of the background thread
};

class Publisher {
 public:
  /// Throws JoinError for an endpoint that check_publishable rejects or keys that libzmq rejects. A relay or disk that
  /// is not available is no error: status() reports it.
  explicit Publisher(PublisherOptions options);
  /// close(close_limit).
  ~Publisher();
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  /// The writer of that rank and lane, created at the first call; for set-up, not for the hot path. Lives as long as
  /// the publisher.
  LaneWriter& lane(std::int32_t rank, Lane lane, Obtained obtained = Obtained::measured,
                   ClockDomain clock = ClockDomain::wall);

  /// Queues hello, program, clock or end in the name of `rank`; false: its queue is full, and the message is counted. A
  /// rank's End is sent after all detail that its lanes wrote before.
  bool control(std::int32_t rank, Event event);
  bool summary(const StepSummary& summary);
  /// Queues a complete batch (of spans, memory samples or phases) formed elsewhere, such as a step's emulated spans;
  /// false: no space, and its rows are counted as dropped.
  bool detail(std::int32_t rank, Event batch);

  /// Rows of that rank accepted and dropped so far, over its lanes: the counts in a StepSummary.
  struct Counts {
    std::int64_t emitted = 0, dropped = 0;
  };
  Counts counts(std::int32_t rank) const;

  PublisherStatus status() const;
  /// Drains all rings, and waits at most `limit` until the relay has all reliable messages. True if it has, or if there
  /// is no relay. Later calls are ignored and counted.
  bool close(std::chrono::milliseconds limit);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rankscope
