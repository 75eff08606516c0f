// A worker's connection to the relay: keeps reliable messages until the relay acknowledges them, and detail as long as
// there is space. Used only by the publisher's background thread; no call waits.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "telemetry/event/event.hpp"
#include "telemetry/stream/join.hpp"
#include "telemetry/stream/spool.hpp"

namespace rankscope {

struct UplinkOptions {
  SessionId session{};
  Join relay;
  std::size_t reliable_messages = 16384;
  std::size_t detail_bytes = std::size_t{16} << 20;  ///< of detail that is queued or in flight
  std::chrono::milliseconds silence_limit{5000};
};

class Uplink {
 public:
  /// Throws JoinError.
  explicit Uplink(const UplinkOptions& options);
  ~Uplink();

  struct Outgoing {
    std::vector<std::byte> bytes;
    bool reliable = false;
    std::optional<SpoolPosition> position;
  };
  void offer(Outgoing message);
  /// Reads answers, keeps the connection alive, and sends what the window allows. `lazily`: no viewer watches, so it
  /// may wait until there is more to send.
  void turn(bool lazily = false);

  bool connected() const;
  const std::string& refusal() const;  ///< why the relay does not accept this worker; empty: not refused
  std::int64_t sent() const;
  std::int64_t unsent_detail() const;    ///< detail dropped before it was sent
  std::int64_t reliable_lost() const;    ///< reliable messages beyond the limit
  std::size_t reliable_waiting() const;  ///< not acknowledged yet
  std::size_t anything_waiting() const;  ///< including detail

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rankscope
