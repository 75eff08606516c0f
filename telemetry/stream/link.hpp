// The protocol of relay, workers and viewers around the telemetry messages: one ZeroMQ frame, a fixed header and then
// a body. Workers and viewers are DEALERs that connect; the relay is one ROUTER. (One frame, because libzmq 4.3 ends
// the process if a connection is lost between two frames of a message that is being received.)
//
//   worker                                        relay
//     worker_hello(generation; session)      →
//                                            ←     worker_challenge(generation; 32 bytes)
//     worker_proof(generation; session, answer)     →             the run's secret: worker_proof.hpp
//                                            ←     worker_grant(generation, received, allowed, is watched)
//     worker_messages(first number, count; pieces)  →             numbers count up to `allowed`
//     worker_beat(generation)                →
//   viewer
//     viewer_hello(generation, instance, position, detail allowed)  →
//                                            ←     snapshot(generation, instance, position S; session)
//                                            ←     viewer_message(number, position after it; message)
//     viewer_grant(generation, received, detail allowed)            →   received also acknowledges
//                                            ←     relay_beat(generation, log size)
//   both
//                                            ←     unknown_peer()       an identity the relay does not know (any more)
//                                            ←     refused(; why)
//
// Version 3 of the link. A peer without proof of being a worker can only read: its worker messages are counted,
// answered by refused() or unknown_peer(), and have no effect. A relay answers earlier versions by refused() in their
// version, in two frames.
//
// `generation` distinguishes answers to this connection from late ones to an earlier one. `position` counts the relay's
// log of reliable messages: a viewer that reconnects to the same relay instance continues at its position, any other
// receives the complete log. Pieces are telemetry messages, each with its place in the sender's spool: all that a
// worker sends at one time is one ZeroMQ message, because each ZeroMQ message wakes threads on both sides.
#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "telemetry/stream/join.hpp"
#include "telemetry/stream/spool.hpp"

namespace zmq {
class socket_t;
}

namespace rankscope::link {

enum class Type : std::uint8_t {
  worker_hello = 1,
  worker_messages,
  worker_beat,
  worker_grant,
  viewer_hello,
  viewer_grant,
  snapshot,
  viewer_message,
  relay_beat,
  unknown_peer,
  refused,
  worker_challenge,
  worker_proof,
};
inline constexpr Type last_type = Type::worker_proof;

struct Header {
  Type type = Type::refused;
  std::uint64_t generation = 0;
  std::uint64_t a = 0, b = 0, c = 0;  ///< in the order of the table above
};
inline constexpr std::size_t header_bytes = 40;

/// The interval at which a client repeats its hello until it is answered.
inline constexpr auto hello_every = std::chrono::milliseconds(200);

/// One telemetry message in a body.
struct Piece {
  std::optional<SpoolPosition> position;  ///< nullopt: it is in no spool
  std::span<const std::byte> bytes;       ///< begins at a multiple of eight bytes from the body's beginning
};
void append(std::vector<std::byte>& body, const Piece& piece);
/// The pieces of a body, as views of it; nullopt if it is not such a body.
std::optional<std::vector<Piece>> pieces_of(std::span<const std::byte> body);

std::array<std::byte, header_bytes> pack(const Header& header);
/// Of a message: nullopt for anything that does not begin with a header of this version.
std::optional<Header> unpack(std::span<const std::byte> bytes);
/// Of a message's first frame: true for a header of an earlier version of the link.
bool is_outdated(std::span<const std::byte> bytes);
/// The answer that such a peer understands: refused(), in its version.
std::array<std::byte, header_bytes> pack_outdated_refusal(std::span<const std::byte> its_header);

/// Sends without waiting; false if there is no space or no peer.
bool send(zmq::socket_t& socket, const Header& header, std::span<const std::byte> body = {});
/// The same without copying: the message's first header_bytes are left for the header. It is consumed also if it could
/// not be sent.
bool send_whole(zmq::socket_t& socket, const Header& header, std::vector<std::byte> message);

/// One message of a DEALER. `header` is empty if it is not of this protocol. Returns false if there is no message.
struct Incoming {
  std::optional<Header> header;
  std::string body;
};
bool receive(zmq::socket_t& socket, Incoming& incoming);

/// Heartbeats, if the system itself does not detect that the peer is gone.
void keep_alive(zmq::socket_t& socket, const std::string& endpoint);
/// A DEALER's settings: no waiting at the end, quick reconnects, heartbeats, CURVE. Throws JoinError for bad keys.
void set_up_client(zmq::socket_t& socket, const Join& join);

}  // namespace rankscope::link
