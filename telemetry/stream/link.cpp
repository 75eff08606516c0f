#include "telemetry/stream/link.hpp"

#include <algorithm>
#include <zmq.hpp>

#include "telemetry/stream/spool_format.hpp"

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace rankscope::link {
namespace {

// A message sent without a copy is freed by ZeroMQ's own thread. The library is not instrumented for the thread
// sanitizer, so this transfer of ownership needs an annotation.
#if defined(__SANITIZE_THREAD__)
void handed_over(void* message) { __tsan_release(message); }
void taken_over(void* message) { __tsan_acquire(message); }
#else
void handed_over(void*) {}
void taken_over(void*) {}
#endif

constexpr std::uint32_t magic = 0x334C5352;  // "RSL3"
constexpr std::uint32_t earlier_magics[] = {0x314C5352, 0x324C5352};

// Of a piece: length, segment and offset in the spool, eight bytes each.
constexpr std::size_t piece_head_bytes = 24, piece_alignment = 8;
constexpr std::uint64_t no_spool = ~std::uint64_t{0};

std::size_t padded(std::size_t bytes) { return (bytes + piece_alignment - 1) / piece_alignment * piece_alignment; }

}  // namespace

void append(std::vector<std::byte>& body, const Piece& piece) {
  std::array<std::byte, piece_head_bytes> head;
  spool_format::put(head.data(), static_cast<std::uint64_t>(piece.bytes.size()));
  spool_format::put(head.data() + 8, piece.position ? std::uint64_t{piece.position->segment} : no_spool);
  spool_format::put(head.data() + 16, piece.position ? piece.position->offset : 0);
  body.insert(body.end(), head.begin(), head.end());
  body.insert(body.end(), piece.bytes.begin(), piece.bytes.end());
  body.resize(padded(body.size()));
}

std::optional<std::vector<Piece>> pieces_of(std::span<const std::byte> body) {
  std::vector<Piece> pieces;
  while (!body.empty()) {
    if (body.size() < piece_head_bytes) return std::nullopt;
    const auto length = spool_format::get<std::uint64_t>(body.data());
    const auto segment = spool_format::get<std::uint64_t>(body.data() + 8);
    const auto offset = spool_format::get<std::uint64_t>(body.data() + 16);
    body = body.subspan(piece_head_bytes);
    if (length > body.size() || padded(length) > body.size()) return std::nullopt;
    Piece piece{std::nullopt, body.first(length)};
    if (segment != no_spool) piece.position = SpoolPosition{static_cast<std::uint32_t>(segment), offset};
    pieces.push_back(piece);
    body = body.subspan(padded(length));
  }
  return pieces;
}

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
  if (bytes.size() < header_bytes || spool_format::get<std::uint32_t>(bytes.data()) != magic) return std::nullopt;
  const auto type = spool_format::get<std::uint32_t>(bytes.data() + 4);
  if (type < static_cast<std::uint32_t>(Type::worker_hello) || type > static_cast<std::uint32_t>(last_type))
    return std::nullopt;
  return Header{static_cast<Type>(type), spool_format::get<std::uint64_t>(bytes.data() + 8),
                spool_format::get<std::uint64_t>(bytes.data() + 16),
                spool_format::get<std::uint64_t>(bytes.data() + 24),
                spool_format::get<std::uint64_t>(bytes.data() + 32)};
}

bool is_outdated(std::span<const std::byte> bytes) {
  return bytes.size() == header_bytes &&
         std::ranges::count(earlier_magics, spool_format::get<std::uint32_t>(bytes.data())) > 0;
}

std::array<std::byte, header_bytes> pack_outdated_refusal(std::span<const std::byte> its_header) {
  auto bytes = pack({Type::refused, spool_format::get<std::uint64_t>(its_header.data() + 8)});
  std::copy_n(its_header.begin(), sizeof magic, bytes.begin());
  return bytes;
}

bool send(zmq::socket_t& socket, const Header& header, std::span<const std::byte> body) {
  zmq::message_t message(header_bytes + body.size());
  const auto head = pack(header);
  std::copy(head.begin(), head.end(), static_cast<std::byte*>(message.data()));
  std::copy(body.begin(), body.end(), static_cast<std::byte*>(message.data()) + header_bytes);
  return socket.send(message, zmq::send_flags::dontwait).has_value();
}

bool send_whole(zmq::socket_t& socket, const Header& header, std::vector<std::byte> message) {
  const auto head = pack(header);
  std::copy(head.begin(), head.end(), message.begin());
  auto owner = std::make_unique<std::vector<std::byte>>(std::move(message));
  zmq::message_t frame(
      owner->data(), owner->size(),
      [](void*, void* vector) {
        taken_over(vector);
        delete static_cast<std::vector<std::byte>*>(vector);
      },
      owner.get());
  handed_over(owner.release());
  return socket.send(frame, zmq::send_flags::dontwait).has_value();
}

bool receive(zmq::socket_t& socket, Incoming& incoming) {
  zmq::message_t frame;
  if (!socket.recv(frame, zmq::recv_flags::dontwait)) return false;
  const auto* const bytes = static_cast<const char*>(frame.data());
  incoming.header = unpack({reinterpret_cast<const std::byte*>(bytes), frame.size()});
  if (frame.more()) incoming.header.reset();  // its other frames follow, as messages that are not of this protocol
  if (incoming.header)
    incoming.body.assign(bytes + header_bytes, frame.size() - header_bytes);
  else
    incoming.body.clear();
  return true;
}

void keep_alive(zmq::socket_t& socket, const std::string& endpoint) {
  if (endpoint.starts_with("ipc:")) return;
  socket.set(zmq::sockopt::heartbeat_ivl, 1000);
  socket.set(zmq::sockopt::heartbeat_timeout, 5000);
}

void set_up_client(zmq::socket_t& socket, const Join& join) {
  socket.set(zmq::sockopt::linger, 0);
  socket.set(zmq::sockopt::immediate, true);  // nothing is queued while there is no relay
  socket.set(zmq::sockopt::reconnect_ivl, 50);
  // Each further attempt waits twice as long, at most this long.
  socket.set(zmq::sockopt::reconnect_ivl_max, join.endpoint.starts_with("ipc:") ? 100 : 1000);
  socket.set(zmq::sockopt::handshake_ivl, 5000);
  keep_alive(socket, join.endpoint);
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
