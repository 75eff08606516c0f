// The relay's state of its session, without sockets: accepts messages in any order, with repetitions, keeps the log and
// the ring, feeds the taps, and finds missing messages.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "telemetry/event/encoded.hpp"
#include "telemetry/event/sequence_set.hpp"
#include "telemetry/relay/detail_ring.hpp"
#include "telemetry/relay/reliable_log.hpp"

namespace rankscope {

class Exchange {
 public:
  /// A session of zeros: uses the first session that a worker sends.
  Exchange(SessionId session, std::size_t ring_bytes, std::vector<EventSink*> taps, DecodeLimits limits);

  enum class Taken {
    fresh,
    doubled,
    unknown,  ///< of a newer kind: forwarded to viewers, not to taps
    refused,
    foreign  ///< of another session
  };
  struct Receipt {
    Taken taken;
    std::int32_t sender = 0;  ///< unless it is rejected
    std::string why;          ///< the reason for the rejection
  };
  Receipt take(SharedBytes message, std::optional<SpoolPosition> position);
  /// A message in the supervisor's name (rank -1).
  void publish(Event event);
  void tick();  ///< of the taps

  bool adopt(const SessionId& session);  ///< false: it serves another one
  const SessionId& session() const { return session_; }
  bool seen(std::int32_t sender, std::uint64_t sequence) const;
  /// All of a sender's messages up to its latest have arrived.
  bool complete(std::int32_t sender) const;

  bool has_holes() const { return !holes_.empty(); }
  /// Turns holes that have been open for `grace` into gaps; returns the number of lost messages.
  std::int64_t give_up_holes(std::chrono::steady_clock::duration grace);

  ReliableLog& log() { return log_; }
  const DetailRing& ring() const { return ring_; }

 private:
  struct Sender {
    SequenceSet seen;
    std::int64_t latest_end_ns = 0;
  };
  /// Time covered and number of rows of a detail event; for a gap, the number of rows that are missing.
  struct Coverage {
    std::int64_t begin_ns = 0, end_ns = 0, events = 0;
  };
  static Coverage coverage_of(const EncodedMessage& message);
  struct Hole {
    std::int32_t sender;
    std::uint64_t first, last;
    std::int64_t begin_ns, end_ns;
    std::chrono::steady_clock::time_point since;
  };
  void note_hole(std::int32_t sender_rank, Sender& sender, std::uint64_t sequence, const Coverage& coverage);
  void close_filled_holes();

  SessionId session_;
  const DecodeLimits limits_;
  const std::vector<EventSink*> taps_;
  ReliableLog log_;
  DetailRing ring_;
  std::map<std::int32_t, Sender> senders_;
  std::vector<Hole> holes_;
  std::uint64_t own_sequence_ = 0, own_control_sequence_ = 0;
};

}  // namespace rankscope
