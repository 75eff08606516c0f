#include "telemetry/stream/link.hpp"

#include <zmq.hpp>

#include "telemetry/stream/spool_format.hpp"

namespace rankscope::link {
namespace {

constexpr std::uint32_t magic = 0x314C5352;  // "RSL1"

}  // namespace

std::array<std::byte, header_bytes> pack(const Header& header) {
  std::array<std::byte, header_bytes> bytes{};
  spool_format::put(bytes.data(), magic);
  spool_format::put(bytes.data() + 4, static_cast<std::uint32_t>(header.type));
  spool_format::put(bytes.data() + 8, header.generation);
  spool_format::put(bytes.data() + 16, header.a);
  spool_format::put(bytes.data() + 24, header.b);
  spool_format::put(bytes.data() + 32, header.c);
  return bytes;
}

std::optional<Header> unpack(std::span<const std::byte> bytes) {
  if (bytes.size() != header_bytes || spool_format::get<std::uint32_t>(bytes.data()) != magic) return std::nullopt;
  const auto type = spool_format::get<std::uint32_t>(bytes.data() + 4);
  if (type < static_cast<std::uint32_t>(Type::worker_hello) || type > static_cast<std::uint32_t>(Type::refused))
    return std::nullopt;
  return Header{static_cast<Type>(type), spool_format::get<std::uint64_t>(bytes.data() + 8),
                spool_format::get<std::uint64_t>(bytes.data() + 16),
                spool_format::get<std::uint64_t>(bytes.data() + 24),
                spool_format::get<std::uint64_t>(bytes.data() + 32)};
}

bool send(zmq::socket_t& socket, const Header& header, std::span<const std::byte> body) {
  const auto bytes = pack(header);
  if (!socket.send(zmq::const_buffer(bytes.data(), bytes.size()), zmq::send_flags::sndmore | zmq::send_flags::dontwait))
    return false;
  // ZeroMQ takes a multi-part message whole once it took its first part.
  return socket.send(zmq::const_buffer(body.data(), body.size()), zmq::send_flags::dontwait).has_value();
}

bool receive(zmq::socket_t& socket, Incoming& incoming) {
  zmq::message_t frame;
  if (!socket.recv(frame, zmq::recv_flags::dontwait)) return false;
  incoming.header = unpack({static_cast<const std::byte*>(frame.data()), frame.size()});
  incoming.body.clear();
  int parts = 1;
  while (frame.more()) {
    if (!socket.recv(frame, zmq::recv_flags::dontwait)) break;
    if (++parts == 2) incoming.body.assign(static_cast<const char*>(frame.data()), frame.size());
  }
  if (parts != 2) incoming.header.reset();
  return true;
}

void set_up_client(zmq::socket_t& socket, const Join& join) {
  socket.set(zmq::sockopt::linger, 0);
  socket.set(zmq::sockopt::immediate, true);  // nothing is queued for a relay that is not there
  socket.set(zmq::sockopt::reconnect_ivl, 50);
  socket.set(zmq::sockopt::reconnect_ivl_max, 1000);
  socket.set(zmq::sockopt::handshake_ivl, 5000);
  socket.set(zmq::sockopt::heartbeat_ivl, 1000);
  socket.set(zmq::sockopt::heartbeat_timeout, 5000);
  socket.set(zmq::sockopt::ipv6, true);
  if (!join.secured()) return;
  try {
    socket.set(zmq::sockopt::curve_serverkey, join.server_key);
    socket.set(zmq::sockopt::curve_publickey, join.keys.public_key);
    socket.set(zmq::sockopt::curve_secretkey, join.keys.secret_key);
  } catch (const zmq::error_t& e) {
    throw JoinError(std::string("the keys of the join string are not CURVE keys: ") + e.what());
  }
}

}  // namespace rankscope::link
