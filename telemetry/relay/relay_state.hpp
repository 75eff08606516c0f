// The relay's thread and its data. Only for this folder's files: relay.cpp serves, relay_intake.cpp receives.
#pragma once
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <zmq.hpp>

#include "telemetry/relay/exchange.hpp"
#include "telemetry/relay/relay.hpp"
#include "telemetry/relay/revoked_keys.hpp"
#include "telemetry/relay/spool_follower.hpp"
#include "telemetry/relay/viewer_feed.hpp"
#include "telemetry/stream/link.hpp"
#include "telemetry/stream/worker_proof.hpp"

namespace rankscope {

/// A slow tap must not keep others (grants, viewers) waiting longer.
inline constexpr auto burst_for = std::chrono::milliseconds(50);

struct Relay::State {
  using Clock = std::chrono::steady_clock;
  struct Worker {
    std::uint64_t generation = 0, received = 0, granted = 0;
    Clock::time_point last_received{}, granted_at{};
    std::string key;
    std::set<std::int32_t> ranks{};  // that have sent through it
  };
  struct Incoming {
    std::string peer;
    std::optional<AdmittedKey> caller;  // nullopt: without encryption
    std::optional<link::Header> header;
    std::shared_ptr<zmq::message_t> frame;  // with the header; null: it is not of the protocol
    std::span<const std::byte> body() const {
      return frame ? std::span(static_cast<const std::byte*>(frame->data()), frame->size()).subspan(link::header_bytes)
                   : std::span<const std::byte>();
    }
  };

  State(RelayOptions given, std::vector<EventSink*> taps);
  ~State() { close(call); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const RelayOptions options;
  const WorkerCheck check;
  std::string endpoint;

  mutable std::mutex mutex;
  std::condition_variable finished;
  RelayStatus status;
  std::vector<Event> to_publish;
  bool finishing = false, all_done = false;
  std::int64_t awaited = 0;  // viewers that must have joined before finish() succeeds
  std::atomic<bool> stop{false};
  const int call = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);  // wakes the thread

  // Used only by the thread.
  RevokedKeys revoked;
  Clock::time_point revoked_at{};
  zmq::context_t context{1};
  std::unique_ptr<ZapHandler> door;
  zmq::socket_t router{context, zmq::socket_type::router};
  Exchange exchange;
  SpoolFollower spools;
  std::map<std::string, Worker> workers;
  std::set<std::string> former_workers;  // that once proved themselves, and may not know that they were removed
  std::map<std::string, ViewerFeed> viewers;
  RelayStatus counts;
  bool spools_read = false;
  std::int64_t missed_by_disconnected = 0;
  std::thread thread;

  std::uint64_t instance = 0;  // of this relay, so that a viewer knows whether it reconnects to the same log

  // Incoming messages.
  bool receive(Incoming& in);
  void take_in(const Incoming& in);
  /// A peer without encryption is on an endpoint that needs none.
  bool may(const Incoming& in, Role role);
  void handle_worker(const Incoming& in, const link::Header& h);
  void challenge_worker(const Incoming& in, const link::Header& h);
  void admit_worker(const Incoming& in, const link::Header& h);
  /// The session in the beginning of a worker's message; nullopt: it cannot be served.
  std::optional<SessionId> session_named(const Incoming& in, const link::Header& h, std::size_t bytes);
  void forget_worker(std::map<std::string, Worker>::iterator worker);
  /// The sender; nullopt: not a message of this session.
  std::optional<std::int32_t> take_piece(const link::Piece& piece, const std::shared_ptr<zmq::message_t>& frame);
  void handle_viewer(const Incoming& in, const link::Header& h);
  void drop_viewer(std::map<std::string, ViewerFeed>::iterator viewer);
  /// Closes connections whose key was revoked.
  void close_revoked();
  void garbage(std::string why);
  void refuse(const std::string& peer, std::uint64_t generation, const std::string& why);
  void refuse_outdated(const std::string& peer, std::span<const std::byte> header);
  void forged(const std::string& peer, std::uint64_t generation, const std::string& why);

  // Outgoing messages.
  enum class Sending : std::uint8_t { done, full, gone };
  Sending send_to(const std::string& peer, const link::Header& header, std::span<const std::byte> body = {});
  void grant(const std::string& peer, Worker& worker);
  void serve(const std::string& peer, ViewerFeed& feed, bool& gone);
  void serve_peers();
  void publish_queued();
  void read_spools(bool to_the_end);
  void report();

  /// Waits for messages, and a short time longer for others sent at the same time.
  void wait();
  bool is_finishing() const;
  void call_thread();
  void run();
};

}  // namespace rankscope
