#include "telemetry/relay/relay.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>

#include "engine/base/host/threads.hpp"
#include "telemetry/relay/relay_state.hpp"

namespace rankscope {
namespace {

constexpr auto poll_for = std::chrono::milliseconds(50);
constexpr auto idle_poll_for = std::chrono::milliseconds(250);  // with no peers and no missing messages
constexpr auto gather_for = std::chrono::milliseconds(5);       // messages sent together are received together
constexpr auto beat_every = std::chrono::milliseconds(500);
constexpr auto worker_limit = std::chrono::seconds(30);
constexpr int burst = 1024;                                 // messages received between two passes over the viewers
constexpr int viewer_burst = 256;                           // messages to one viewer in a pass
constexpr std::size_t spool_budget = std::size_t{4} << 20;  // bytes read from spools in a pass
constexpr int high_water = 2048;  // above every window, so that only a peer that violates the protocol reaches it

}  // namespace

Relay::State::State(RelayOptions given, std::vector<EventSink*> taps)
    : options(std::move(given)),
      check(options.run_secret.empty() ? new_run_secret() : options.run_secret),
      revoked(options.join_files),
      exchange(options.session, options.ring_bytes, std::move(taps), options.limits),
      spools(options.spool_directory) {
  if (call < 0) throw std::system_error(errno, std::generic_category(), "relay: eventfd");
}

Relay::State::Sending Relay::State::send_to(const std::string& peer, const link::Header& header,
                                            std::span<const std::byte> body) {
  try {
    if (!router.send(zmq::buffer(peer), zmq::send_flags::sndmore | zmq::send_flags::dontwait)) return Sending::full;
    return link::send(router, header, body) ? Sending::done : Sending::full;
  } catch (const zmq::error_t&) {
    return Sending::gone;  // EHOSTUNREACH: it disconnected
  }
}

void Relay::State::grant(const std::string& peer, Worker& worker) {
  send_to(peer, {link::Type::worker_grant, worker.generation, worker.received, worker.received + options.worker_window,
                 viewers.empty() ? 0U : 1U});
  worker.granted = worker.received;
  worker.granted_at = Clock::now();
}

void Relay::State::serve(const std::string& peer, ViewerFeed& feed, bool& gone) {
  for (int i = 0; i < viewer_burst; ++i) {
    const auto next = feed.next(exchange, spools);
    if (!next) break;
    const Sending sending =
        send_to(peer, {link::Type::viewer_message, feed.generation(), next->number, next->position}, next->bytes);
    gone = sending == Sending::gone;
    if (sending != Sending::done) return;
    feed.sent();
  }
  const auto now = Clock::now();
  if (now - feed.beat_at < beat_every) return;
  feed.beat_at = now;
  gone = send_to(peer, {link::Type::relay_beat, feed.generation(), exchange.log().size()}) == Sending::gone;
}

void Relay::State::serve_peers() {
  const auto now = Clock::now();
  for (auto viewer = viewers.begin(); viewer != viewers.end();) {
    bool gone = false;
    const auto at = viewer++;
    serve(at->first, at->second, gone);
    if (now - at->second.last_received > options.viewer_limit) {
      ++counts.forgotten;
      gone = true;
    }
    if (gone) drop_viewer(at);
  }
  for (auto worker = workers.begin(); worker != workers.end();) {
    const auto at = worker++;
    if (at->second.received != at->second.granted) grant(at->first, at->second);
    if (now - at->second.last_received > worker_limit) forget_worker(at);
  }
}

void Relay::State::publish_queued() {
  std::vector<Event> events;
  {
    const std::lock_guard lock(mutex);
    events.swap(to_publish);
  }
  for (Event& event : events) exchange.publish(std::move(event));
}

void Relay::State::read_spools(bool to_the_end) {
  if (!exchange.has_holes() && !(to_the_end && !spools_read)) return;
  const bool at_end = spools.catch_up(exchange, spool_budget, to_the_end);
  if (to_the_end && at_end) spools_read = true;
  if (at_end) counts.lost += exchange.give_up_holes(to_the_end ? Clock::duration::zero() : options.hole_limit);
}

void Relay::State::report() {
  bool done = spools_read;
  for (const auto& [peer, feed] : viewers) done = done && feed.caught_up(exchange);
  counts.session = exchange.session();
  counts.workers = static_cast<std::int64_t>(workers.size());
  counts.viewers = static_cast<std::int64_t>(viewers.size());
  counts.log_messages = static_cast<std::int64_t>(exchange.log().size());
  counts.recovered = spools.recovered();
  counts.rejected = door ? door->rejected() : 0;
  counts.missed = missed_by_disconnected;
  for (const auto& [peer, feed] : viewers) counts.missed += feed.missed();
  const std::lock_guard lock(mutex);
  status = counts;
  all_done = finishing && done && to_publish.empty() && counts.joined >= awaited;
  if (all_done) finished.notify_all();
}

void Relay::State::wait() {
  std::array<zmq::pollitem_t, 3> items{
      {{nullptr, call, ZMQ_POLLIN, 0}, {router.handle(), 0, ZMQ_POLLIN, 0}, {nullptr, 0, ZMQ_POLLIN, 0}}};
  if (door) items[2].socket = door->socket().handle();
  const bool idle = viewers.empty() && !exchange.has_holes() && !is_finishing();
  zmq::poll(items.data(), door ? 3 : 2, idle ? idle_poll_for : poll_for);
  std::uint64_t calls = 0;
  if (items[0].revents != 0 && read(call, &calls, sizeof calls) > 0) return;
  if (items[1].revents != 0) std::this_thread::sleep_for(gather_for);
}

bool Relay::State::is_finishing() const {
  const std::lock_guard lock(mutex);
  return finishing;
}

void Relay::State::call_thread() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(call, &one, sizeof one);
}

void Relay::State::run() {
  while (!stop) {
    wait();
    close_revoked();
    if (door) door->answer();
    Incoming in;
    const auto burst_end = Clock::now() + burst_for;
    for (int i = 0; i < burst && Clock::now() < burst_end && receive(in); ++i) take_in(in);
    read_spools(is_finishing());
    publish_queued();  // after the spools, so that a session's End is its last message
    serve_peers();
    exchange.tick();
    report();
  }
}

Relay::Relay(RelayOptions options, std::vector<EventSink*> taps) {
  check_publishable(options.endpoint, !options.keys.empty());
  if (!options.worker_endpoint.empty()) check_publishable(options.worker_endpoint, false);
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
  // If it were always set, 127.0.0.1 would become ::ffff:127.0.0.1.
  s.router.set(zmq::sockopt::ipv6, s.options.endpoint.find('[') != std::string::npos);
  try {
    if (!s.options.worker_endpoint.empty()) s.router.bind(s.options.worker_endpoint);
    if (!s.options.keys.empty()) {  // applies to the endpoints that are bound after this
      s.door = std::make_unique<ZapHandler>(s.context, s.options.admitted, s.revoked);
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
  return {reachable_endpoint(state_->endpoint, host), state_->options.keys.public_key, client, {}};
}

Join Relay::worker_join(const CurveKeys& client, const std::string& host) const {
  Join join = state_->options.worker_endpoint.empty() ? this->join(client, host)
                                                      : Join{state_->options.worker_endpoint, {}, {}, {}};
  join.run_secret = state_->check.secret();
  return join;
}

void Relay::publish(Event event) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->to_publish.push_back(std::move(event));
  }
  state_->call_thread();
}

bool Relay::finish(std::chrono::milliseconds limit, std::int64_t awaited) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  s.finishing = true;
  s.awaited = awaited;
  s.all_done = false;
  s.call_thread();
  return s.finished.wait_for(lock, limit, [&] { return s.all_done; });
}

RelayStatus Relay::status() const {
  const std::lock_guard lock(state_->mutex);
  return state_->status;
}

std::vector<AdmittedKey> RelayKeys::admitted() const {
  std::vector<AdmittedKey> keys{{worker.public_key, Role::worker}};
  for (const CurveKeys& viewer : viewers) keys.push_back({viewer.public_key, Role::viewer});
  return keys;
}

RelayKeys new_relay_keys(std::size_t viewers) {
  RelayKeys keys{new_curve_keys(), new_curve_keys(), {}};
  for (std::size_t i = 0; i < viewers; ++i) keys.viewers.push_back(new_curve_keys());
  return keys;
}

}  // namespace rankscope
