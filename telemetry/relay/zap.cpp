#include "telemetry/relay/zap.hpp"

#include <algorithm>
#include <array>
#include <zmq.hpp>

#include "telemetry/relay/revoked_keys.hpp"
#include "telemetry/stream/z85.hpp"

namespace rankscope {
namespace {

enum Frame : std::size_t { version, request_id, zap_domain, address, identity, mechanism, credentials, frame_count };

}  // namespace

std::string_view name_of(Role role) {
  switch (role) {
    case Role::worker: return "worker";
    case Role::viewer: return "viewer";
  }
  return "?";
}

std::optional<AdmittedKey> caller_of(std::string_view user_id) {
  const auto colon = user_id.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string key(user_id.substr(colon + 1));
  for (const Role role : {Role::worker, Role::viewer})
    if (user_id.substr(0, colon) == name_of(role)) return AdmittedKey{key, role};
  return std::nullopt;
}

struct ZapHandler::State {
  zmq::socket_t socket;
  std::vector<AdmittedKey> admitted;
  const RevokedKeys& revoked;
  std::int64_t rejected = 0;

  const AdmittedKey* find(const std::string& raw) const {
    std::array<char, 32> key_bytes;
    if (raw.size() != key_bytes.size()) return nullptr;
    std::copy(raw.begin(), raw.end(), key_bytes.begin());
    const std::string text = z85(key_bytes);
    for (const AdmittedKey& key : admitted)
      if (key.public_key == text && !revoked.contains(key.public_key)) return &key;
    return nullptr;
  }
};

ZapHandler::ZapHandler(zmq::context_t& context, std::vector<AdmittedKey> admitted, const RevokedKeys& revoked)
    : state_(
          std::make_unique<State>(State{zmq::socket_t(context, zmq::socket_type::rep), std::move(admitted), revoked})) {
  state_->socket.set(zmq::sockopt::linger, 0);
  state_->socket.bind("inproc://zeromq.zap.01");
}
ZapHandler::~ZapHandler() = default;

zmq::socket_t& ZapHandler::socket() { return state_->socket; }
std::int64_t ZapHandler::rejected() const { return state_->rejected; }

void ZapHandler::answer() {
  for (;;) {
    std::vector<std::string> frames;
    zmq::message_t frame;
    if (!state_->socket.recv(frame, zmq::recv_flags::dontwait)) return;
    frames.push_back(frame.to_string());
    while (frame.more() && state_->socket.recv(frame, zmq::recv_flags::dontwait)) frames.push_back(frame.to_string());
    frames.resize(std::max<std::size_t>(frames.size(), frame_count));
    const AdmittedKey* key =
        frames[version] == "1.0" && frames[mechanism] == "CURVE" ? state_->find(frames[credentials]) : nullptr;
    if (!key) ++state_->rejected;
    const std::array<std::string, 6> reply{"1.0",
                                           frames[request_id],
                                           key ? "200" : "400",
                                           key ? "OK" : "this key is not accepted",
                                           key ? std::string(name_of(key->role)) + ":" + key->public_key : "",
                                           ""};
    for (std::size_t i = 0; i < reply.size(); ++i)
      state_->socket.send(zmq::buffer(reply[i]),
                          i + 1 < reply.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
  }
}

}  // namespace rankscope
