// What relay, workers and viewers say to each other around the telemetry messages: two ZeroMQ frames, a fixed header
// and a body. Workers and viewers are DEALERs that dial in; the relay is one ROUTER.
//
//   worker                                        relay
//     worker_hello(generation; session)      →
//                                            ←     worker_grant(generation, received, allowed)
//     worker_message(number, spool position; message)  →          number counts up to `allowed`
//     worker_beat(generation)                →
//   viewer
//     viewer_hello(generation, instance, position, detail allowed)  →
//                                            ←     snapshot(generation, instance, position S; session)
//                                            ←     viewer_message(number, position after it; message)
//     viewer_grant(generation, received, detail allowed)            →   received also acknowledges
//                                            ←     relay_beat(generation, log size)
//   both
//                                            ←     who_are_you()       an identity the relay does not know (any more)
//                                            ←     refused(; why)
//
// `generation` tells answers to this connection from late ones to an earlier one. `position` counts the relay's log of
// reliable messages: a viewer that comes back to the same relay instance goes on from where it was, any other gets the
// whole log.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "telemetry/stream/join.hpp"

namespace zmq {
class socket_t;
}

namespace rankscope::link {

enum class Type : std::uint8_t {
  worker_hello = 1,
  worker_message,
  worker_beat,
  worker_grant,
  viewer_hello,
  viewer_grant,
  snapshot,
  viewer_message,
  relay_beat,
  who_are_you,
  refused,
};

struct Header {
  Type type = Type::refused;
  std::uint64_t generation = 0;
  std::uint64_t a = 0, b = 0, c = 0;  ///< in the order of the table above
};
inline constexpr std::size_t header_bytes = 40;
inline constexpr std::uint64_t no_spool = ~std::uint64_t{0};  ///< as segment: the message is in no spool

std::array<std::byte, header_bytes> pack(const Header& header);
/// nullopt for anything that is no header.
std::optional<Header> unpack(std::span<const std::byte> bytes);

/// Sends without waiting; false when there is no room or nobody there.
bool send(zmq::socket_t& socket, const Header& header, std::span<const std::byte> body = {});

/// One message of a DEALER. `header` is empty when it was not one of ours. Returns false when there is none.
struct Incoming {
  std::optional<Header> header;
  std::string body;
};
bool receive(zmq::socket_t& socket, Incoming& incoming);

/// A DEALER's settings: no waiting at the end, quick reconnects, heartbeats, CURVE. Throws JoinError for bad keys.
void set_up_client(zmq::socket_t& socket, const Join& join);

}  // namespace rankscope::link
