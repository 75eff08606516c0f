#include "telemetry/stream/viewer_client.hpp"

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <zmq.hpp>

#include "engine/base/host/threads.hpp"
#include "telemetry/event/sequence_set.hpp"
#include "telemetry/stream/link.hpp"
#include "telemetry/stream/viewer_history.hpp"

namespace rankscope {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto grant_every = std::chrono::milliseconds(250);
constexpr auto poll_for = std::chrono::milliseconds(20);
constexpr int burst = 256;  // messages between two reads of the clock
constexpr const char* monitor_endpoint = "inproc://viewer-monitor";

}  // namespace

std::string_view name_of(ViewerState state) {
  switch (state) {
    case ViewerState::connecting: return "connecting";
    case ViewerState::live: return "live";
    case ViewerState::ended: return "ended";
    case ViewerState::refused: return "refused";
  }
  return "?";
}

struct ViewerClient::State {
  State(ViewerOptions given, EventSink& target) : options(std::move(given)), sink(target) {}

  const ViewerOptions options;
  EventSink& sink;
  zmq::context_t context{1};
  zmq::socket_t socket{context, zmq::socket_type::dealer};
  zmq::socket_t monitor{context, zmq::socket_type::pair};

  mutable std::mutex mutex;
  ViewerStatus status;
  std::atomic<bool> stop{false};
  std::atomic<Clock::rep> heard_at{-1};  // last_received, for status()

  // Used only by the client's thread.
  std::uint64_t generation = 1;
  std::uint64_t instance = 0;         // of the relay whose log is followed; 0: none yet
  std::uint64_t position = 0;         // in its log
  std::uint64_t live_from = 0;        // the snapshot's S
  std::uint64_t received = 0;         // the last number on this connection
  std::uint64_t detail_received = 0;  // on this connection
  std::uint64_t granted_received = 0;
  bool answered = false, session_known = false, session_over = false;
  SessionId session{};
  std::map<std::int32_t, SequenceSet> seen;  // by sender
  Clock::time_point hello_at{}, last_received{}, granted_at{};
  std::thread thread;

  template <class F>
  void update(F change) {
    const std::lock_guard lock(mutex);
    change(status);
  }
  void set_state(ViewerState state, std::string why = {}) {
    update([&](ViewerStatus& s) {
      s.state = state;
      s.why = std::move(why);
    });
  }
  bool refused() const {
    const std::lock_guard lock(mutex);
    return status.state == ViewerState::refused;
  }

  void garbage(std::string why) {
    update([&](ViewerStatus& s) {
      ++s.garbage;
      s.last_garbage = std::move(why);
    });
  }

  void start_over(const char* why) {
    ++generation;
    answered = false;
    received = detail_received = granted_received = 0;
    hello_at = {};
    if (!session_over) set_state(ViewerState::connecting, why);
  }

  void send_hello() {
    hello_at = Clock::now();
    const std::string history = pack_history(seen);
    link::send(socket, {link::Type::viewer_hello, generation, instance, position, options.detail_credits},
               std::as_bytes(std::span(history)));
  }

  void grant() {
    if (!link::send(socket, {link::Type::viewer_grant, generation, received, detail_received + options.detail_credits}))
      return;
    granted_at = Clock::now();
    granted_received = received;
  }

  void handle_snapshot(const link::Header& h, const std::string& body) {
    SessionId of{};
    if (body.size() != of.size()) return garbage("a snapshot without a session");
    std::memcpy(of.data(), body.data(), of.size());
    if (session_known && of != session)
      return set_state(ViewerState::refused, "the relay serves another session now: " + to_string(of));
    session = of;
    session_known = true;
    if (h.a != instance) position = 0;
    instance = h.a;
    live_from = h.b;
    answered = true;
    update([](ViewerStatus& s) { ++s.snapshots; });
    check_connection();
  }

  void check_connection() {
    if (answered && position >= live_from) set_state(session_over ? ViewerState::ended : ViewerState::live);
  }

  void handle_message(const link::Header& h, const std::string& body) {
    if (h.a != received + 1) return start_over("a message was lost; asking again");
    received = h.a;
    const bool detail = h.b == 0;
    if (detail)
      ++detail_received;
    else
      position = h.b;
    const Decoded decoded = decode(std::as_bytes(std::span(body)), options.limits);
    if (decoded) {
      deliver(decoded.message, body.size(), detail);
    } else if (decoded.outcome == Decoded::Outcome::unknown) {
      update([](ViewerStatus& s) { ++s.unknown; });
    } else {
      garbage(decoded.error);
    }
    if (!detail && h.b >= live_from) check_connection();
  }

  void deliver(const Message& message, std::size_t size, bool detail) {
    if (message.session != session) return garbage("a message of another session");
    // Gaps that the relay creates for this viewer have no number.
    if (message.sequence != 0 && !seen[message.rank].insert(message.sequence))
      return update([](ViewerStatus& s) { ++s.doubled; });
    if (const End* end = std::get_if<End>(&message.event); end && end->rank < 0) session_over = true;
    update([&](ViewerStatus& s) {
      ++s.messages;
      s.bytes += static_cast<std::int64_t>(size);
      s.detail += detail;
      s.gaps += std::holds_alternative<Gap>(message.event);
    });
    sink.accept(message);
  }

  void handle(const link::Incoming& incoming) {
    if (!incoming.header) return garbage("not a message of the link");
    const link::Header& h = *incoming.header;
    if (h.type == link::Type::unknown_peer) {
      if (answered) start_over("the relay lost this viewer; asking again");
      return;
    }
    if (h.generation != generation) return;  // late messages to an earlier connection
    last_received = Clock::now();
    heard_at = last_received.time_since_epoch().count();
    switch (h.type) {
      case link::Type::snapshot: return handle_snapshot(h, incoming.body);
      case link::Type::viewer_message: return answered ? handle_message(h, incoming.body) : void();
      case link::Type::relay_beat: return;
      case link::Type::refused: return set_state(ViewerState::refused, incoming.body.substr(0, 400));
      case link::Type::worker_hello:
      case link::Type::worker_messages:
      case link::Type::worker_beat:
      case link::Type::worker_grant:
      case link::Type::worker_challenge:
      case link::Type::worker_proof:
      case link::Type::viewer_hello:
      case link::Type::viewer_grant:
      case link::Type::unknown_peer: break;
    }
    garbage("a message that relays do not send to viewers");
  }

  // Failed handshakes are reported only here.
  void handle_monitor() {
    zmq::message_t frame;
    while (monitor.recv(frame, zmq::recv_flags::dontwait)) {
      std::uint16_t event = 0;
      if (frame.size() >= sizeof event) std::memcpy(&event, frame.data(), sizeof event);
      while (frame.more() && monitor.recv(frame, zmq::recv_flags::dontwait)) {
      }
      if (event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) {
        set_state(ViewerState::refused, "the relay does not accept this key");
      } else if (event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL || event == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL) {
        update([&](ViewerStatus& s) {
          if (s.state != ViewerState::connecting) return;
          s.why = options.join.secured() ? "the relay closed the connection; is this join string from this run?"
                                         : "the relay closed the connection; it may need a join string with keys";
        });
      }
    }
  }

  void turn() {
    zmq::pollitem_t items[] = {{socket.handle(), 0, ZMQ_POLLIN, 0}, {monitor.handle(), 0, ZMQ_POLLIN, 0}};
    zmq::poll(items, 2, poll_for);
    if (items[1].revents) handle_monitor();
    link::Incoming incoming;
    for (int i = 0; i < burst && link::receive(socket, incoming); ++i) handle(incoming);
    const auto now = Clock::now();
    if (answered && now - last_received > options.silence_limit) start_over("the relay does not answer; reconnecting");
    if (!answered) {
      if (now - hello_at >= link::hello_every) send_hello();
    } else if (received != granted_received || now - granted_at >= grant_every) {
      grant();
    }
  }

  void run() {
    while (!stop && !refused()) turn();
    socket.close();  // a refused client would keep reconnecting
  }
};

ViewerClient::ViewerClient(ViewerOptions options, EventSink& sink)
    : state_(std::make_unique<State>(std::move(options), sink)) {
  State& s = *state_;
  const std::string endpoint = parse_join(s.options.join.endpoint).endpoint;
  link::set_up_client(s.socket, s.options.join);
  s.socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(s.options.limits.message_bytes));
  zmq_socket_monitor(
      s.socket.handle(), monitor_endpoint,
      ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL);
  s.monitor.set(zmq::sockopt::linger, 0);
  s.monitor.connect(monitor_endpoint);
  try {
    s.socket.connect(endpoint);
  } catch (const zmq::error_t& e) {
    throw JoinError("'" + endpoint + "': " + e.what());
  }
  s.thread = start_thread("reading the run", [&s] { s.run(); });
}

ViewerClient::~ViewerClient() {
  state_->stop = true;
  state_->thread.join();
}

ViewerStatus ViewerClient::status() const {
  const std::lock_guard lock(state_->mutex);
  ViewerStatus status = state_->status;
  if (const Clock::rep at = state_->heard_at; at >= 0)
    status.silence =
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - Clock::time_point(Clock::duration(at)));
  return status;
}

}  // namespace rankscope
