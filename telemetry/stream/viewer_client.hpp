// The viewer's side of telemetry: connects to a relay and passes its messages to a sink. It can only read.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "telemetry/event/codec.hpp"
#include "telemetry/event/event.hpp"
#include "telemetry/stream/join.hpp"

namespace rankscope {

enum class ViewerState : std::uint8_t {
  connecting,  ///< searching for the relay, also after a loss, or receiving the snapshot
  live,
  ended,    ///< the session is over; late detail may still arrive
  refused,  ///< the relay does not accept this viewer, or serves another session now: reason in `why`
};
std::string_view name_of(ViewerState state);

struct ViewerStatus {
  ViewerState state = ViewerState::connecting;
  std::string why;  ///< one line; empty if there is no message
  std::int64_t messages = 0, bytes = 0;
  std::int64_t detail = 0;     ///< of the messages
  std::int64_t doubled = 0;    ///< skipped, because they had arrived before
  std::int64_t garbage = 0;    ///< rejected by the decoder, or not a message of the link
  std::int64_t unknown = 0;    ///< of a newer kind
  std::int64_t gaps = 0;       ///< Gap events: detail that has not arrived (yet)
  std::int64_t snapshots = 0;  ///< number of snapshots sent by the relay
  std::string last_garbage;    ///< the reason
  /// Since the relay last sent something; it sends at least its heartbeat, twice a second. Below 0: it has never.
  std::chrono::milliseconds silence{-1};
};

struct ViewerOptions {
  Join join;
  std::uint32_t detail_credits = 64;  ///< batches of detail in flight at most; 0: only control and summaries
  std::chrono::milliseconds silence_limit{5000};  ///< without a message from the relay: connect again
  DecodeLimits limits;
};

/// Runs its own thread, which calls the sink. A slow sink receives less detail (the relay drops and counts), but delays
/// nothing else.
class ViewerClient {
 public:
  /// The sink must outlive the client. Throws JoinError for an invalid endpoint or invalid keys.
  ViewerClient(ViewerOptions options, EventSink& sink);
  ~ViewerClient();
  ViewerClient(const ViewerClient&) = delete;
  ViewerClient& operator=(const ViewerClient&) = delete;

  ViewerStatus status() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rankscope
