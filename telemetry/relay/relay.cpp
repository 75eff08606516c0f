#include "telemetry/relay/relay.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <zmq.hpp>

#include "engine/host/threads.hpp"
#include "telemetry/relay/exchange.hpp"
#include "telemetry/relay/spool_follower.hpp"
#include "telemetry/relay/viewer_feed.hpp"
#include "telemetry/stream/link.hpp"
#include "telemetry/stream/viewer_history.hpp"

namespace rankscope {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto poll_for = std::chrono::milliseconds(50);
constexpr auto idle_poll_for = std::chrono::milliseconds(250);  // with nobody to serve and nothing missing
constexpr auto gather_for = std::chrono::milliseconds(5);       // what workers send together is taken in together
constexpr auto beat_every = std::chrono::milliseconds(500);
constexpr auto worker_limit = std::chrono::seconds(30);
constexpr auto burst_for = std::chrono::milliseconds(50);  // a slow tap must not keep grants and viewers waiting longer
constexpr int burst = 1024;                                // messages taken in between two rounds of the viewers
constexpr int viewer_burst = 256;                          // messages to one viewer in a round
constexpr std::size_t spool_budget = std::size_t{4} << 20;  // bytes read from spools in a round
constexpr std::size_t most_peers = 4096;
constexpr int high_water = 2048;  // above every window, so that only a peer that broke the rules meets it

enum class Sending : std::uint8_t { done, full, gone };

Sending send_to(zmq::socket_t& router, const std::string& peer, const link::Header& header,
                std::span<const std::byte> body = {}) {
  try {
    if (!router.send(zmq::buffer(peer), zmq::send_flags::sndmore | zmq::send_flags::dontwait)) return Sending::full;
    return link::send(router, header, body) ? Sending::done : Sending::full;
  } catch (const zmq::error_t&) {
    return Sending::gone;  // EHOSTUNREACH: it hung up
  }
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

struct Relay::State {
  struct Worker {
    std::uint64_t generation = 0, received = 0, granted = 0;
    Clock::time_point heard_at{}, granted_at{};
    std::set<std::int32_t> ranks{};  // that have spoken through it
  };
  struct Incoming {
    std::string peer, user;
    std::optional<link::Header> header;
    std::shared_ptr<zmq::message_t> frame;  // null: no body
    std::span<const std::byte> body() const {
      return frame ? std::span(static_cast<const std::byte*>(frame->data()), frame->size()) : std::span<std::byte>();
    }
  };

  State(RelayOptions given, std::vector<EventSink*> taps)
      : options(std::move(given)),
        exchange(options.session, options.ring_bytes, std::move(taps), options.limits),
        spools(options.spool_directory) {
    if (call < 0) throw std::system_error(errno, std::generic_category(), "relay: eventfd");
  }
  ~State() { close(call); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const RelayOptions options;
  std::string endpoint;

  mutable std::mutex mutex;
  std::condition_variable finished;
  RelayStatus status;
  std::vector<Event> to_publish;
  bool finishing = false, all_done = false;
  std::atomic<bool> stop{false};
  const int call = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);  // wakes the thread

  // The thread's own.
  zmq::context_t context{1};
  std::unique_ptr<ZapHandler> door;
  zmq::socket_t router{context, zmq::socket_type::router};
  Exchange exchange;
  SpoolFollower spools;
  std::map<std::string, Worker> workers;
  std::map<std::string, ViewerFeed> viewers;
  RelayStatus counts;
  bool spools_read = false;
  std::int64_t missed_by_gone = 0;
  std::thread thread;

  void garbage(std::string why) {
    ++counts.garbage;
    counts.last_garbage = std::move(why);
  }

  void drop_viewer(std::map<std::string, ViewerFeed>::iterator viewer) {
    missed_by_gone += viewer->second.missed();
    viewers.erase(viewer);
  }

  void refuse(const std::string& peer, std::uint64_t generation, const std::string& why) {
    garbage(why);
    send_to(router, peer, {link::Type::refused, generation}, bytes_of(why));
  }

  bool receive(Incoming& in) {
    zmq::message_t frame;
    if (!router.recv(frame, zmq::recv_flags::dontwait)) return false;
    in.peer = frame.to_string();
    in.header.reset();
    in.user.clear();
    in.frame.reset();
    int parts = 1;
    for (bool more = frame.more(); more && router.recv(frame, zmq::recv_flags::dontwait);) {
      more = frame.more();
      ++parts;
      if (parts == 2) {
        in.header = link::unpack({static_cast<const std::byte*>(frame.data()), frame.size()});
        if (door) in.user = user_of(frame);
      } else if (parts == 3) {
        in.frame = std::make_shared<zmq::message_t>(std::move(frame));
      }
    }
    if (parts != 3) in.header.reset();
    return true;
  }

  static std::string user_of(zmq::message_t& frame) {
    const char* user = zmq_msg_gets(frame.handle(), "User-Id");
    return user ? user : "";
  }

  bool may(const Incoming& in, Role role) const { return !door || in.user == name_of(role); }

  void take_in(const Incoming& in) {
    if (!in.header) return garbage("not a message of the link");
    const link::Header& h = *in.header;
    switch (h.type) {
      case link::Type::worker_hello:
      case link::Type::worker_messages:
      case link::Type::worker_beat:
        if (!may(in, Role::worker)) return refuse(in.peer, h.generation, "this key is not a worker's");
        return hear_worker(in, h);
      case link::Type::viewer_hello:
      case link::Type::viewer_grant:
        if (!may(in, Role::viewer)) return refuse(in.peer, h.generation, "this key is not a viewer's");
        return hear_viewer(in, h);
      case link::Type::worker_grant:
      case link::Type::snapshot:
      case link::Type::viewer_message:
      case link::Type::relay_beat:
      case link::Type::who_are_you:
      case link::Type::refused: break;
    }
    garbage("a message that only a relay sends");
  }

  void hear_worker(const Incoming& in, const link::Header& h) {
    if (viewers.contains(in.peer)) return garbage("a viewer can only read");
    if (h.type == link::Type::worker_hello) {
      SessionId session{};
      if (in.body().size() != session.size()) return garbage("a worker's hello without a session");
      std::memcpy(session.data(), in.body().data(), session.size());
      if (!exchange.adopt(session))
        return refuse(in.peer, h.generation, "this relay serves session " + to_string(exchange.session()));
      if (workers.size() + viewers.size() >= most_peers) return refuse(in.peer, h.generation, "too many connections");
      Worker& worker = workers[in.peer] = Worker{h.generation, 0, 0, Clock::now(), {}};
      return grant(in.peer, worker);
    }
    const auto found = workers.find(in.peer);
    if (found == workers.end()) {
      send_to(router, in.peer, {link::Type::who_are_you});
      return;
    }
    Worker& worker = found->second;
    worker.heard_at = Clock::now();
    if (h.generation != worker.generation) return;
    if (h.type == link::Type::worker_beat) {
      for (const std::int32_t rank : worker.ranks)
        if (options.alive) options.alive(rank);
      return grant(in.peer, worker);
    }
    if (h.a != worker.received + 1 || h.b == 0 ||
        h.b > options.worker_window) {  // something was lost on the way: from the beginning
      workers.erase(found);
      send_to(router, in.peer, {link::Type::who_are_you});
      return;
    }
    const auto pieces = link::pieces_of(in.body());
    if (!pieces || pieces->size() != h.b) {
      worker.received += h.b;
      return garbage("a body that does not hold what its header says");
    }
    auto serve_at = Clock::now() + burst_for;
    for (const link::Piece& piece : *pieces) {
      ++worker.received;
      if (const auto sender = take_piece(piece, in.frame)) worker.ranks.insert(*sender);
      if (Clock::now() < serve_at) continue;
      serve_peers();
      serve_at = Clock::now() + burst_for;
    }
  }

  // Who sent it; nullopt: nobody of this session.
  std::optional<std::int32_t> take_piece(const link::Piece& piece, const std::shared_ptr<zmq::message_t>& frame) {
    const Exchange::Receipt receipt = exchange.take({frame, piece.bytes}, piece.position);
    switch (receipt.taken) {
      case Exchange::Taken::fresh: break;
      case Exchange::Taken::unknown: ++counts.unknown; break;
      case Exchange::Taken::doubled: ++counts.doubled; return receipt.sender;
      case Exchange::Taken::refused: garbage(receipt.why); return std::nullopt;
      case Exchange::Taken::foreign: garbage("a message of another session"); return std::nullopt;
    }
    ++counts.messages;
    counts.bytes += static_cast<std::int64_t>(piece.bytes.size());
    if (piece.position && exchange.complete(receipt.sender)) spools.known_before(receipt.sender, *piece.position);
    return receipt.sender;
  }

  void grant(const std::string& peer, Worker& worker) {
    send_to(router, peer,
            {link::Type::worker_grant, worker.generation, worker.received, worker.received + options.worker_window,
             viewers.empty() ? 0U : 1U});
    worker.granted = worker.received;
    worker.granted_at = Clock::now();
  }

  void hear_viewer(const Incoming& in, const link::Header& h) {
    if (workers.contains(in.peer)) return garbage("a worker does not read");
    auto found = viewers.find(in.peer);
    if (h.type == link::Type::viewer_hello) {
      if (exchange.session() == SessionId{}) return;  // nothing to show yet; it will ask again
      if (found != viewers.end()) {
        if (found->second.generation() == h.generation) return;  // asked twice; the answer is under way
        drop_viewer(found);
      }
      if (workers.size() + viewers.size() >= most_peers) return refuse(in.peer, h.generation, "too many connections");
      const bool goes_on = h.a == instance;
      const std::uint64_t position = goes_on ? std::min(h.b, exchange.log().size()) : 0;
      auto has = goes_on ? unpack_history(in.body()) : std::map<std::int32_t, SequenceSet>{};
      viewers.emplace(in.peer, ViewerFeed(h.generation, position, h.c, std::move(has)));
      if (viewers.size() == 1)
        for (auto& [worker, state] : workers) grant(worker, state);  // from now on they are watched
      const auto session = bytes_of_session();
      send_to(router, in.peer, {link::Type::snapshot, h.generation, instance, exchange.log().size()}, session);
      return;
    }
    if (found == viewers.end()) {
      send_to(router, in.peer, {link::Type::who_are_you});
      return;
    }
    found->second.heard_at = Clock::now();
    if (h.generation == found->second.generation()) found->second.grant(h.a, h.b);
  }

  std::span<const std::byte> bytes_of_session() const {
    return std::as_bytes(std::span(exchange.session().data(), exchange.session().size()));
  }
  std::uint64_t instance = 0;  // of this relay, so that a viewer knows whether it comes back to the same log

  void serve(const std::string& peer, ViewerFeed& feed, bool& gone) {
    for (int i = 0; i < viewer_burst; ++i) {
      const auto next = feed.next(exchange, spools);
      if (!next) break;
      const Sending sending = send_to(
          router, peer, {link::Type::viewer_message, feed.generation(), next->number, next->position}, next->bytes);
      gone = sending == Sending::gone;
      if (sending != Sending::done) return;
      feed.sent();
    }
    const auto now = Clock::now();
    if (now - feed.beat_at < beat_every) return;
    feed.beat_at = now;
    gone = send_to(router, peer, {link::Type::relay_beat, feed.generation(), exchange.log().size()}) == Sending::gone;
  }

  void serve_peers() {
    const auto now = Clock::now();
    for (auto viewer = viewers.begin(); viewer != viewers.end();) {
      bool gone = false;
      const auto at = viewer++;
      serve(at->first, at->second, gone);
      if (now - at->second.heard_at > options.viewer_limit) {
        ++counts.forgotten;
        gone = true;
      }
      if (gone) drop_viewer(at);
    }
    for (auto worker = workers.begin(); worker != workers.end();) {
      const auto at = worker++;
      if (at->second.received != at->second.granted) grant(at->first, at->second);
      if (now - at->second.heard_at > worker_limit) workers.erase(at);
    }
  }

  void publish_queued() {
    std::vector<Event> events;
    {
      const std::lock_guard lock(mutex);
      events.swap(to_publish);
    }
    for (Event& event : events) exchange.publish(std::move(event));
  }

  void look_into_spools(bool to_the_end) {
    if (!exchange.has_holes() && !(to_the_end && !spools_read)) return;
    const bool at_end = spools.catch_up(exchange, spool_budget, to_the_end);
    if (to_the_end && at_end) spools_read = true;
    if (at_end) counts.lost += exchange.give_up_holes(to_the_end ? Clock::duration::zero() : options.hole_limit);
  }

  void report() {
    bool done = spools_read;
    for (const auto& [peer, feed] : viewers) done = done && feed.caught_up(exchange);
    counts.session = exchange.session();
    counts.workers = static_cast<std::int64_t>(workers.size());
    counts.viewers = static_cast<std::int64_t>(viewers.size());
    counts.log_messages = static_cast<std::int64_t>(exchange.log().size());
    counts.recovered = spools.recovered();
    counts.turned_away = door ? door->turned_away() : 0;
    counts.missed = missed_by_gone;
    for (const auto& [peer, feed] : viewers) counts.missed += feed.missed();
    const std::lock_guard lock(mutex);
    status = counts;
    all_done = finishing && done && to_publish.empty();
    if (all_done) finished.notify_all();
  }

  // Waits for words, and a moment more for those that come with them.
  void wait() {
    std::array<zmq::pollitem_t, 3> items{
        {{nullptr, call, ZMQ_POLLIN, 0}, {router.handle(), 0, ZMQ_POLLIN, 0}, {nullptr, 0, ZMQ_POLLIN, 0}}};
    if (door) items[2].socket = door->socket().handle();
    const bool idle = viewers.empty() && !exchange.has_holes() && !is_finishing();
    zmq::poll(items.data(), door ? 3 : 2, idle ? idle_poll_for : poll_for);
    std::uint64_t calls = 0;
    if (items[0].revents != 0 && read(call, &calls, sizeof calls) > 0) return;
    if (items[1].revents != 0) std::this_thread::sleep_for(gather_for);
  }
  bool is_finishing() const {
    const std::lock_guard lock(mutex);
    return finishing;
  }
  void call_thread() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(call, &one, sizeof one);
  }

  void run() {
    while (!stop) {
      wait();
      if (door) door->answer();
      Incoming in;
      const auto burst_end = Clock::now() + burst_for;
      for (int i = 0; i < burst && Clock::now() < burst_end && receive(in); ++i) take_in(in);
      look_into_spools(is_finishing());
      publish_queued();  // after the spools, so that a session's End is its last word
      serve_peers();
      exchange.tick();
      report();
    }
  }
};

Relay::Relay(RelayOptions options, std::vector<EventSink*> taps) {
  check_publishable(options.endpoint, !options.keys.empty());
  state_ = std::make_unique<State>(std::move(options), std::move(taps));
  State& s = *state_;
  const SessionId random = new_session_id();
  std::memcpy(&s.instance, random.data(), sizeof s.instance);
  s.router.set(zmq::sockopt::linger, 0);
  s.router.set(zmq::sockopt::router_mandatory, true);
  s.router.set(zmq::sockopt::sndhwm, high_water);
  s.router.set(zmq::sockopt::rcvhwm, high_water);
  s.router.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(s.options.limits.message_bytes));
  s.router.set(zmq::sockopt::handshake_ivl, 5000);
  link::keep_alive(s.router, s.options.endpoint);
  // Asked for always, it would turn 127.0.0.1 into ::ffff:127.0.0.1.
  s.router.set(zmq::sockopt::ipv6, s.options.endpoint.find('[') != std::string::npos);
  try {
    if (!s.options.keys.empty()) {
      s.door = std::make_unique<ZapHandler>(s.context, s.options.admitted);
      s.router.set(zmq::sockopt::curve_server, true);
      s.router.set(zmq::sockopt::curve_secretkey, s.options.keys.secret_key);
      s.router.set(zmq::sockopt::zap_domain, ZapHandler::domain);
    }
    s.router.bind(s.options.endpoint);
  } catch (const zmq::error_t& e) {
    throw JoinError("relay: '" + s.options.endpoint + "' cannot be bound: " + e.what());
  }
  s.endpoint = s.router.get(zmq::sockopt::last_endpoint);
  s.thread = start_thread("the relay", [&s] { s.run(); });
}

Relay::~Relay() {
  state_->stop = true;
  state_->call_thread();
  state_->thread.join();
}

const std::string& Relay::endpoint() const { return state_->endpoint; }

Join Relay::join(const CurveKeys& client, const std::string& host) const {
  return {reachable_endpoint(state_->endpoint, host), state_->options.keys.public_key, client};
}

void Relay::publish(Event event) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->to_publish.push_back(std::move(event));
  }
  state_->call_thread();
}

bool Relay::finish(std::chrono::milliseconds limit) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  s.finishing = true;
  s.all_done = false;
  s.call_thread();
  return s.finished.wait_for(lock, limit, [&] { return s.all_done; });
}

RelayStatus Relay::status() const {
  const std::lock_guard lock(state_->mutex);
  return state_->status;
}

RelayKeys new_relay_keys() { return {new_curve_keys(), new_curve_keys(), new_curve_keys()}; }

}  // namespace rankscope
