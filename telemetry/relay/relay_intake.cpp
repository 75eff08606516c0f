#include <algorithm>
#include <cstring>
#include <utility>

#include "telemetry/relay/relay_state.hpp"
#include "telemetry/stream/viewer_history.hpp"

namespace rankscope {
namespace {

constexpr auto revoked_every = std::chrono::milliseconds(250);  // between two checks for revoked keys
// Separate limits: viewers cannot use up the workers' places. The last is for removed workers that are remembered.
constexpr std::size_t most_viewers = 4096, most_workers = 65536, most_former_workers = 65536;

std::string user_of(zmq::message_t& frame) {
  const char* user = zmq_msg_gets(frame.handle(), "User-Id");
  return user ? user : "";
}

}  // namespace

void Relay::State::garbage(std::string why) {
  ++counts.garbage;
  counts.last_garbage = std::move(why);
}

void Relay::State::drop_viewer(std::map<std::string, ViewerFeed>::iterator viewer) {
  missed_by_disconnected += viewer->second.missed();
  viewers.erase(viewer);
}

void Relay::State::refuse(const std::string& peer, std::uint64_t generation, const std::string& why) {
  garbage(why);
  send_to(peer, {link::Type::refused, generation}, std::as_bytes(std::span(why)));
}

bool Relay::State::receive(Incoming& in) {
  zmq::message_t frame;
  if (!router.recv(frame, zmq::recv_flags::dontwait)) return false;
  in.peer = frame.to_string();
  in.header.reset();
  in.caller.reset();
  in.frame.reset();
  int parts = 1;
  for (bool more = frame.more(); more && router.recv(frame, zmq::recv_flags::dontwait);) {
    more = frame.more();
    if (++parts > 2) continue;
    const std::span bytes(static_cast<const std::byte*>(frame.data()), frame.size());
    in.header = link::unpack(bytes);
    if (link::is_outdated(bytes)) refuse_outdated(in.peer, bytes);
    if (door) in.caller = caller_of(user_of(frame));
    if (in.header) in.frame = std::make_shared<zmq::message_t>(std::move(frame));
  }
  if (parts != 2) in.header.reset();
  return true;
}

void Relay::State::refuse_outdated(const std::string& peer, std::span<const std::byte> header) {
  constexpr std::string_view why = "this relay uses version 3 of the link; use the Rankscope version of the run";
  const auto answer = link::pack_outdated_refusal(header);
  try {
    if (router.send(zmq::buffer(peer), zmq::send_flags::sndmore | zmq::send_flags::dontwait) &&
        router.send(zmq::buffer(answer), zmq::send_flags::sndmore | zmq::send_flags::dontwait))
      router.send(zmq::buffer(why), zmq::send_flags::dontwait);
  } catch (const zmq::error_t&) {  // it disconnected
  }
}

bool Relay::State::may(const Incoming& in, Role role) {
  if (in.caller && revoked.contains(in.caller->public_key)) {
    refuse(in.peer, in.header->generation, "this key was revoked");
    return false;
  }
  if (!in.caller || in.caller->role == role) return true;
  if (role == Role::worker) ++counts.forged;
  refuse(in.peer, in.header->generation, "this key is not a " + std::string(name_of(role)) + "'s");
  return false;
}

void Relay::State::take_in(const Incoming& in) {
  if (!in.header) return garbage("not a message of the link");
  const link::Header& h = *in.header;
  switch (h.type) {
    case link::Type::worker_hello:
    case link::Type::worker_proof:
    case link::Type::worker_messages:
    case link::Type::worker_beat:
      if (may(in, Role::worker)) handle_worker(in, h);
      return;
    case link::Type::viewer_hello:
    case link::Type::viewer_grant:
      if (may(in, Role::viewer)) handle_viewer(in, h);
      return;
    case link::Type::worker_challenge:
    case link::Type::worker_grant:
    case link::Type::snapshot:
    case link::Type::viewer_message:
    case link::Type::relay_beat:
    case link::Type::unknown_peer:
    case link::Type::refused: break;
  }
  garbage("a message that only a relay may send");
}

void Relay::State::handle_worker(const Incoming& in, const link::Header& h) {
  if (viewers.contains(in.peer)) return forged(in.peer, h.generation, "a viewer can only read");
  if (h.type == link::Type::worker_hello) return challenge_worker(in, h);
  if (h.type == link::Type::worker_proof) return admit_worker(in, h);
  const auto found = workers.find(in.peer);
  if (found == workers.end()) {
    if (!former_workers.contains(in.peer))
      return forged(in.peer, h.generation, "a worker's message from a peer without proof");
    send_to(in.peer, {link::Type::unknown_peer});
    return;
  }
  Worker& worker = found->second;
  worker.last_received = Clock::now();
  if (h.generation != worker.generation) return;
  if (h.type == link::Type::worker_beat) {
    for (const std::int32_t rank : worker.ranks)
      if (options.alive) options.alive(rank);
    return grant(in.peer, worker);
  }
  if (h.a != worker.received + 1 || h.b == 0 ||
      h.b > options.worker_window) {  // something was lost in transit: restart from the beginning
    forget_worker(found);
    send_to(in.peer, {link::Type::unknown_peer});
    return;
  }
  const auto pieces = link::pieces_of(in.body());
  if (!pieces || pieces->size() != h.b) {
    worker.received += h.b;
    return garbage("a body that does not match its header");
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

void Relay::State::forged(const std::string& peer, std::uint64_t generation, const std::string& why) {
  ++counts.forged;
  refuse(peer, generation, why);
}

std::optional<SessionId> Relay::State::session_named(const Incoming& in, const link::Header& h, std::size_t bytes) {
  SessionId session{};
  if (in.body().size() != bytes) {
    garbage("a worker's hello or proof of a wrong length");
    return std::nullopt;
  }
  std::memcpy(session.data(), in.body().data(), session.size());
  if (exchange.session() == SessionId{} || exchange.session() == session) return session;
  refuse(in.peer, h.generation, "this relay serves session " + to_string(exchange.session()));
  return std::nullopt;
}

void Relay::State::challenge_worker(const Incoming& in, const link::Header& h) {
  if (!session_named(in, h, sizeof(SessionId))) return;
  send_to(in.peer, {link::Type::worker_challenge, h.generation}, check.challenge(in.peer, h.generation));
}

void Relay::State::admit_worker(const Incoming& in, const link::Header& h) {
  const auto session = session_named(in, h, sizeof(SessionId) + sizeof(ProofCode));
  if (!session) return;
  if (!check.proves(in.peer, h.generation, *session, in.body().subspan(sizeof(SessionId))))
    return forged(in.peer, h.generation,
                  "this peer does not know the secret of the run; workers receive it from the run");
  exchange.adopt(*session);
  // A repeated proof is late: the worker's numbers continue.
  const auto known = workers.find(in.peer);
  if (known != workers.end() && known->second.generation == h.generation) return grant(in.peer, known->second);
  if (workers.size() >= most_workers) return refuse(in.peer, h.generation, "too many workers");
  const std::string key = in.caller ? in.caller->public_key : std::string();
  grant(in.peer, workers[in.peer] = Worker{h.generation, 0, 0, Clock::now(), {}, key});
}

void Relay::State::forget_worker(std::map<std::string, Worker>::iterator worker) {
  if (former_workers.size() >= most_former_workers) former_workers.clear();
  former_workers.insert(worker->first);
  workers.erase(worker);
}

void Relay::State::close_revoked() {
  if (!door || Clock::now() - revoked_at < revoked_every) return;
  revoked_at = Clock::now();
  if (!revoked.poll()) return;
  const auto shut_out = [&](const std::string& peer, std::uint64_t generation) {
    ++counts.revoked;
    constexpr std::string_view why = "this key was revoked";
    send_to(peer, {link::Type::refused, generation}, std::as_bytes(std::span(why)));
  };
  for (auto viewer = viewers.begin(); viewer != viewers.end();) {
    const auto at = viewer++;
    if (!revoked.contains(at->second.key)) continue;
    shut_out(at->first, at->second.generation());
    drop_viewer(at);
  }
  for (auto worker = workers.begin(); worker != workers.end();) {
    const auto at = worker++;
    if (!revoked.contains(at->second.key)) continue;
    shut_out(at->first, at->second.generation);
    workers.erase(at);
  }
}

std::optional<std::int32_t> Relay::State::take_piece(const link::Piece& piece,
                                                     const std::shared_ptr<zmq::message_t>& frame) {
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

void Relay::State::handle_viewer(const Incoming& in, const link::Header& h) {
  if (workers.contains(in.peer)) return garbage("a worker does not read");
  auto found = viewers.find(in.peer);
  if (h.type == link::Type::viewer_hello) {
    if (exchange.session() == SessionId{}) return;  // no session yet; the viewer will ask again
    if (found != viewers.end()) {
      if (found->second.generation() == h.generation) return;  // requested twice; the answer is pending
      drop_viewer(found);
    }
    if (viewers.size() >= most_viewers) return refuse(in.peer, h.generation, "too many viewers");
    const bool resumes = h.a == instance;
    const std::uint64_t position = resumes ? std::min(h.b, exchange.log().size()) : 0;
    auto has = resumes ? unpack_history(in.body()) : std::map<std::int32_t, SequenceSet>{};
    const auto viewer = viewers.emplace(in.peer, ViewerFeed(h.generation, position, h.c, std::move(has))).first;
    if (in.caller) viewer->second.key = in.caller->public_key;
    ++counts.joined;
    if (viewers.size() == 1)
      for (auto& [worker, state] : workers) grant(worker, state);  // from now on they are watched
    const auto session = std::as_bytes(std::span(exchange.session()));
    send_to(in.peer, {link::Type::snapshot, h.generation, instance, exchange.log().size()}, session);
    return;
  }
  if (found == viewers.end()) {
    send_to(in.peer, {link::Type::unknown_peer});
    return;
  }
  found->second.last_received = Clock::now();
  if (h.generation == found->second.generation()) found->second.grant(h.a, h.b);
}

}  // namespace rankscope
