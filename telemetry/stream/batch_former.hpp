// Turns rows into messages: numbers each rank's messages, collects its rows in batches, encodes them and writes them to
// the rank's spool. Used only by the publisher's background thread.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "telemetry/event/codec.hpp"
#include "telemetry/stream/lane_writer.hpp"
#include "telemetry/stream/spool.hpp"
#include "telemetry/stream/uplink.hpp"

namespace rankscope {

struct BatchFormerOptions {
  SessionId session{};
  std::string spool_directory;            ///< empty: no spool
  std::chrono::nanoseconds keep_last{0};  ///< of detail, in the spool; 0: all
  std::size_t batch_rows = 4096;          ///< of one message at most
  bool collect = true;                    ///< messages for take(); else they are only written to the spool
};

class BatchFormer {
 public:
  explicit BatchFormer(BatchFormerOptions options) : options_(std::move(options)) {}

  /// A single message: any event but a batch.
  void append(std::int32_t rank, Event event);
  /// Appends the lane's rows to its rank's open batches. `last`: also reports drops that no later row can report.
  void drain(LaneWriter& lane, bool last);
  /// Appends the rows of a complete batch in the same way.
  void add(std::int32_t rank, Event batch);
  /// Turns the open batches into messages.
  void close_batches();
  /// Flushes the spools to the operating system; returns one spool's error, or an empty string.
  std::string flush();
  /// The messages formed since the last call, in order.
  std::vector<Uplink::Outgoing> take() { return std::exchange(formed_, {}); }

  struct Counts {
    std::int64_t rows = 0;       ///< appended to batches
    std::int64_t malformed = 0;  ///< invalid rows, which were omitted
    std::int64_t messages = 0, bytes = 0;
    std::int64_t spool_lost = 0;  ///< messages that could not be written to disk
  };
  const Counts& counts() const { return counts_; }

 private:
  using OpenBatches = std::tuple<SpanBatch, MemoryBatch, PhaseBatch>;
  struct RankStream {
    std::uint64_t sequence = 0, control_sequence = 0;
    std::unique_ptr<SpoolWriter> spool;
    std::map<std::pair<Obtained, ClockDomain>, OpenBatches> open;
  };
  RankStream& stream_of(std::int32_t rank);
  OpenBatches& open_batches(std::int32_t rank, Obtained obtained, ClockDomain clock);
  void emit(std::int32_t rank, const Message& message);
  template <class Batch>
  void close(std::int32_t rank, Batch& batch);
  template <class Batch, class Row>
  void add_row(std::int32_t rank, Batch& batch, const Row& row);
  template <class Batch>
  void add_batch(std::int32_t rank, Batch&& batch);

  const BatchFormerOptions options_;
  std::map<std::int32_t, RankStream> ranks_;
  Encoder encoder_;
  std::vector<Uplink::Outgoing> formed_;
  Counts counts_;
};

}  // namespace rankscope
