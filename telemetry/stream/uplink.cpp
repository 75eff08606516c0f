#include "telemetry/stream/uplink.hpp"

#include <array>
#include <cstring>
#include <deque>
#include <zmq.hpp>

#include "telemetry/stream/link.hpp"
#include "telemetry/stream/worker_proof.hpp"

namespace rankscope {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto beat_every = std::chrono::milliseconds(250);
constexpr std::size_t body_bytes = std::size_t{256} << 10;  // a body of this size accepts no more messages
constexpr std::size_t much_detail = std::size_t{1} << 20;
constexpr std::size_t longest_reason = 400;
constexpr int send_high_water = 4096;  // above any window that a relay grants

}  // namespace

struct Uplink::State {
  explicit State(const UplinkOptions& given) : options(given), socket(context, zmq::socket_type::dealer) {}

  struct Entry {
    Outgoing message;
    std::uint64_t order = 0;   // over both queues
    std::uint64_t number = 0;  // on this connection; 0: not sent on it
  };
  // In order; those sent on this connection are first.
  struct Queue {
    std::deque<Entry> entries;
    std::size_t sent = 0;
    Entry* first_unsent() { return sent < entries.size() ? &entries[sent] : nullptr; }
    void acknowledge(std::uint64_t received) {
      while (sent > 0 && entries.front().number <= received) pop_front();
    }
    void pop_front() {
      entries.pop_front();
      if (sent > 0) --sent;
    }
  };

  const UplinkOptions options;
  zmq::context_t context{1};
  zmq::socket_t socket;
  Queue reliable, detail;
  std::size_t detail_bytes = 0;
  std::uint64_t next_order = 1, generation = 0, number = 0, allowed = 0;
  bool granted = false, watched = false;
  std::string refusal;
  Clock::time_point hello_at{}, last_received{}, sent_at{};
  std::int64_t sent = 0, unsent_detail = 0, reliable_lost = 0;

  void start_over() {
    granted = false;
    number = allowed = 0;
    for (Queue* queue : {&reliable, &detail}) {
      for (std::size_t i = 0; i < queue->sent; ++i) queue->entries[i].number = 0;
      queue->sent = 0;
    }
    ++generation;
    hello_at = {};
  }

  void drop_oldest_detail() {
    if (detail.sent == 0) ++unsent_detail;
    detail_bytes -= detail.entries.front().message.bytes.size();
    detail.pop_front();
  }

  void handle(const link::Incoming& incoming) {
    if (!incoming.header) return;
    const link::Header& h = *incoming.header;
    // A different or restarted relay asks for the identity, or refuses messages without a proof.
    if (granted &&
        (h.type == link::Type::unknown_peer || (h.type == link::Type::refused && h.generation == generation)))
      return start_over();
    if (h.type == link::Type::refused && h.generation == generation) refusal = incoming.body.substr(0, longest_reason);
    if (h.type == link::Type::worker_challenge && h.generation == generation) return prove(incoming.body);
    if (h.type != link::Type::worker_grant || h.generation != generation) return;
    granted = true;
    refusal.clear();
    last_received = Clock::now();
    allowed = h.b;
    watched = h.c != 0;
    reliable.acknowledge(h.a);
    while (detail.sent > 0 && detail.entries.front().number <= h.a) {
      detail_bytes -= detail.entries.front().message.bytes.size();
      detail.pop_front();
    }
  }

  // A worker without the run's secret is not admitted.
  void prove(const std::string& challenge) {
    ProofCode code;
    if (challenge.size() != code.size()) return;
    if (options.relay.run_secret.empty()) {
      refusal = "its join string does not contain the secret of the run";
      return;
    }
    std::memcpy(code.data(), challenge.data(), code.size());
    const ProofCode answer = answer_challenge(options.relay.run_secret, options.session, generation, code);
    std::array<std::byte, sizeof(SessionId) + sizeof(ProofCode)> body;
    std::memcpy(body.data(), options.session.data(), sizeof(SessionId));
    std::memcpy(body.data() + sizeof(SessionId), answer.data(), answer.size());
    link::send(socket, {link::Type::worker_proof, generation}, body);
  }

  // The next entries, as many as are allowed and fit, as one message; false: none, or no space.
  bool send_some() {
    const std::uint64_t number_before = number;
    const std::size_t reliable_before = reliable.sent, detail_before = detail.sent;
    std::vector<std::byte> body(link::header_bytes);
    while (number < allowed && body.size() < body_bytes) {
      Entry* const control = reliable.first_unsent();
      Entry* const data = detail.first_unsent();
      if (!control && !data) break;
      const bool control_is_next = control && (!data || control->order < data->order);
      Entry& entry = control_is_next ? *control : *data;
      link::append(body, {entry.message.position, entry.message.bytes});
      entry.number = ++number;
      ++(control_is_next ? reliable : detail).sent;
    }
    const std::uint64_t count = number - number_before;
    if (count == 0) return false;
    if (!link::send_whole(socket, {link::Type::worker_messages, generation, number_before + 1, count},
                          std::move(body))) {
      number = number_before;
      reliable.sent = reliable_before;
      detail.sent = detail_before;
      return false;
    }
    sent += static_cast<std::int64_t>(count);
    sent_at = Clock::now();
    return true;
  }

  void turn(bool lazily) {
    for (link::Incoming incoming; link::receive(socket, incoming);) handle(incoming);
    const auto now = Clock::now();
    if (granted && now - last_received > options.silence_limit) start_over();
    if (!granted) {
      if (now - hello_at < link::hello_every) return;
      const auto* session = reinterpret_cast<const std::byte*>(options.session.data());
      hello_at = now;
      link::send(socket, {link::Type::worker_hello, generation}, {session, options.session.size()});
      return;
    }
    if (lazily && !watched && detail_bytes < much_detail && now - sent_at < options.silence_limit / 4) return;
    while (send_some()) {
    }
    if (now - sent_at > beat_every && link::send(socket, {link::Type::worker_beat, generation})) sent_at = now;
  }
};

Uplink::Uplink(const UplinkOptions& options) : state_(std::make_unique<State>(options)) {
  State& s = *state_;
  ++s.generation;
  link::set_up_client(s.socket, options.relay);
  s.socket.set(zmq::sockopt::sndhwm, send_high_water);
  try {
    s.socket.connect(options.relay.endpoint);
  } catch (const zmq::error_t& e) {
    throw JoinError("'" + options.relay.endpoint + "': " + e.what());
  }
}
Uplink::~Uplink() = default;

void Uplink::offer(Outgoing message) {
  State& s = *state_;
  const bool reliable = message.reliable;
  if (reliable && s.reliable.entries.size() >= s.options.reliable_messages) {
    ++s.reliable_lost;
    return;
  }
  if (!reliable) {
    s.detail_bytes += message.bytes.size();
    while (s.detail_bytes > s.options.detail_bytes && !s.detail.entries.empty()) s.drop_oldest_detail();
  }
  (reliable ? s.reliable : s.detail).entries.push_back({std::move(message), s.next_order++, 0});
}

void Uplink::turn(bool lazily) { state_->turn(lazily); }
bool Uplink::connected() const { return state_->granted; }
const std::string& Uplink::refusal() const { return state_->refusal; }
std::int64_t Uplink::sent() const { return state_->sent; }
std::int64_t Uplink::unsent_detail() const { return state_->unsent_detail; }
std::int64_t Uplink::reliable_lost() const { return state_->reliable_lost; }
std::size_t Uplink::reliable_waiting() const { return state_->reliable.entries.size(); }
std::size_t Uplink::anything_waiting() const { return reliable_waiting() + state_->detail.entries.size(); }

}  // namespace rankscope
