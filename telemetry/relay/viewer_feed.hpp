// What one viewer has received and receives next. Control and summaries are a cursor into the log, so they can neither
// overflow nor be lost; detail is a cursor into the ring and waits for the viewer's credits. A viewer that is too slow
// misses detail, gets gaps at once, and receives the detail later from the spools if they can be read.
#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "telemetry/event/sequence_set.hpp"
#include "telemetry/relay/exchange.hpp"
#include "telemetry/relay/spool_follower.hpp"

namespace rankscope {

class ViewerFeed {
 public:
  using Clock = std::chrono::steady_clock;

  /// `position`: the length of the log that the viewer has; `has`: the messages it has.
  ViewerFeed(std::uint64_t generation, std::uint64_t position, std::uint64_t detail_allowed,
             std::map<std::int32_t, SequenceSet> has);

  std::uint64_t generation() const { return generation_; }
  /// Acknowledges messages up to `received`, and allows this number of detail messages since the beginning.
  void grant(std::uint64_t received, std::uint64_t detail_allowed);

  struct Next {
    std::span<const std::byte> bytes;  ///< valid until the next call
    std::uint64_t number = 0;          ///< on this connection
    std::uint64_t position = 0;        ///< of the log, after this message; 0 for detail
  };
  /// The message to send now, within window and credits; nullopt: none. Call sent() once it is sent.
  std::optional<Next> next(Exchange& exchange, SpoolFollower& spools);
  void sent();

  /// Everything has been sent and acknowledged (detail: as far as there were credits).
  bool caught_up(Exchange& exchange) const;
  std::int64_t missed() const { return missed_; }  ///< detail messages dropped from the ring before they were sent

  Clock::time_point last_received = Clock::now(), beat_at{};
  std::string key;  ///< with which it connected; empty: without encryption

 private:
  enum class Source : std::uint8_t { none, log, gap, ring, backfill };
  bool window_open() const;
  void notice_missed(const DetailRing& ring);
  std::optional<Next> next_detail(Exchange& exchange, SpoolFollower& spools);
  bool has(const DetailEntry& entry) const;

  const std::uint64_t generation_;
  std::uint64_t log_position_, detail_allowed_, detail_sent_ = 0, number_ = 0, acknowledged_ = 0;
  std::uint64_t ring_position_ = 0;
  const std::map<std::int32_t, SequenceSet> has_;
  bool reported_forgotten_ = false;
  std::deque<Gap> gaps_;                                          // to be reported
  std::deque<std::pair<std::uint64_t, std::uint64_t>> backfill_;  // ranges [first, end) of ring numbers, to be fetched
  std::deque<std::size_t> under_way_;                             // sizes of the messages not acknowledged
  std::size_t bytes_under_way_ = 0;
  std::int64_t missed_ = 0;

  Source offered_ = Source::none;
  std::size_t offered_bytes_ = 0;
  std::vector<std::byte> made_;  // the bytes offered, if they are not in log or ring
};

}  // namespace rankscope
