// A run with its own relay, a client that can send anything, and what the relay's tests ask of both.
#pragma once
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "telemetry/relay/relay.hpp"
#include "telemetry/stream/link.hpp"
#include "telemetry/stream/publisher.hpp"
#include "telemetry/stream/viewer_client.hpp"
#include "telemetry/stream/worker_proof.hpp"
#include "tests/catch.hpp"
#include "tests/telemetry/stream/support.hpp"

namespace rankscope::test {

using namespace std::chrono_literals;

// A run of `ranks` ranks in one process, with its own relay.
class Run {
 public:
  explicit Run(const std::string& endpoint = {}, RelayOptions options = {}, bool spools_reachable = true) {
    options.endpoint = endpoint.empty() ? "ipc://" + directory.file("relay") : endpoint;
    options.session = a_session();
    options.run_secret = new_run_secret();  // unchanged when the relay is restarted
    if (spools_reachable) options.spool_directory = directory.file("spool");
    relay_options = options;
    start_relay();
  }
  void start_relay() { relay = std::make_unique<Relay>(relay_options, std::vector<EventSink*>{&tap}); }
  PublisherOptions publisher_options(const CurveKeys& keys = {}) const {
    PublisherOptions o;
    o.session = a_session();
    o.spool_directory = directory.file("spool");
    o.relay = relay->worker_join(keys);
    o.period = 5ms;
    return o;
  }
  void start_worker(const CurveKeys& keys = {}) { worker = std::make_unique<Publisher>(publisher_options(keys)); }

  // Reports `steps` steps of all ranks with `spans` spans each. Waits while the publisher's thread is behind, as on a
  // busy machine, so that rings drop nothing: other tests cover drops.
  void train(std::uint32_t steps, int spans, int ranks = 2) {
    for (std::uint32_t end = step + steps; step < end; ++step)
      for (std::int32_t rank = 0; rank < ranks; ++rank) {
        LaneWriter& lane = worker->lane(rank, Lane::compute);
        for (int i = 0; i < spans; ++i) lane.span(a_span(rank, step, total[rank]++));
        worker->summary(a_summary(rank, step));
        const auto room = [&] {
          return worker->counts(0).emitted + worker->counts(1).emitted - worker->status().events < 4000;
        };
        REQUIRE(eventually(room));
      }
  }

  const Directory directory;
  Collector tap;
  RelayOptions relay_options;
  std::unique_ptr<Relay> relay;
  std::unique_ptr<Publisher> worker;
  std::uint32_t step = 0;
  std::map<std::int32_t, std::int64_t> total;
};

// A test's own DEALER socket, which can send anything.
class Stranger {
 public:
  explicit Stranger(const Join& join) : socket_(context_, zmq::socket_type::dealer) {
    link::set_up_client(socket_, join);
    socket_.connect(join.endpoint);
  }
  bool send(const link::Header& header, const std::string& body = {}) {
    return eventually([&] { return link::send(socket_, header, std::as_bytes(std::span(body))); });
  }
  void send_raw(const std::vector<std::string>& frames) {
    socket_.set(zmq::sockopt::sndtimeo, 60000);
    for (std::size_t i = 0; i < frames.size(); ++i)
      socket_.send(zmq::buffer(frames[i]), i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
  }
  // Sends a worker's hello, and answers the relay's challenge with this secret. Returns true if admitted.
  bool handshake(const std::string& secret, std::uint64_t generation = 1, const SessionId& session = a_session()) {
    const std::string id(reinterpret_cast<const char*>(session.data()), session.size());
    if (!send({link::Type::worker_hello, generation}, id)) return false;
    ProofCode challenge;
    bool is_challenged = false;
    await([&](const link::Incoming& in) {
      if (!in.header || in.header->generation != generation) return false;
      is_challenged = in.header->type == link::Type::worker_challenge && in.body.size() == challenge.size();
      if (is_challenged) std::memcpy(challenge.data(), in.body.data(), challenge.size());
      return is_challenged || in.header->type == link::Type::refused;
    });
    if (!is_challenged) return false;
    const ProofCode answer = answer_challenge(secret, session, generation, challenge);
    send({link::Type::worker_proof, generation},
        id + std::string(reinterpret_cast<const char*>(answer.data()), answer.size()));
    bool granted = false;
    await([&](const link::Incoming& in) {
      granted = in.header && in.header->type == link::Type::worker_grant;
      return granted || (in.header && in.header->type == link::Type::refused);
    });
    return granted;
  }
  /// The frames of the next message.
  std::vector<std::string> await_frames() {
    socket_.set(zmq::sockopt::rcvtimeo, 60000);
    std::vector<std::string> frames;
    zmq::message_t frame;
    while (socket_.recv(frame)) {
      frames.push_back(frame.to_string());
      if (!frame.more()) break;
    }
    return frames;
  }
  // Receives messages until `enough` returns true, within a limit.
  template <class F>
  bool await(F enough, std::chrono::milliseconds limit = 60s) {
    return eventually(
        [&] {
          link::Incoming incoming;
          while (link::receive(socket_, incoming))
            if (enough(incoming)) return true;
          return false;
        },
        limit);
  }

 private:
  zmq::context_t context_{1};
  zmq::socket_t socket_;
};

inline std::unique_ptr<ViewerClient> view(const Join& join, EventSink& sink, std::uint32_t credits = 64) {
  ViewerOptions options;
  options.join = join;
  options.detail_credits = credits;
  options.silence_limit = 1500ms;
  return std::make_unique<ViewerClient>(options, sink);
}

inline bool is_live(const ViewerClient& viewer) {
  return eventually([&] { return viewer.status().state == ViewerState::live; });
}

// The body with which a worker sends these messages, none of them in a spool.
inline std::string body_of(const std::vector<Message>& messages) {
  std::vector<std::byte> body;
  for (const Message& message : messages) link::append(body, {std::nullopt, encode(message)});
  return {reinterpret_cast<const char*>(body.data()), body.size()};
}

inline std::string session_text() {
  const SessionId id = a_session();
  return {reinterpret_cast<const char*>(id.data()), id.size()};
}

}  // namespace rankscope::test
