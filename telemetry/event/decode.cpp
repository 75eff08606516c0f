#include <fmt/format.h>

#include <cstring>

#include "engine/op/words.hpp"
#include "telemetry/event/codec.hpp"
#include "telemetry/event/wire_event.hpp"

namespace rankscope {
namespace {

constexpr std::size_t least_bytes = 16;  // root offset, identifier and the smallest table

SessionId from_wire(const wire::Session& session) {
  const std::uint64_t halves[2] = {session.high(), session.low()};
  SessionId id;
  std::memcpy(id.data(), halves, sizeof halves);
  return id;
}

}  // namespace

namespace wire {

Aligned::Aligned(std::span<const std::byte> bytes) : data_(reinterpret_cast<const std::uint8_t*>(bytes.data())) {
  if (reinterpret_cast<std::uintptr_t>(data_) % alignof(std::uint64_t) == 0) return;
  copy_.resize((bytes.size() + 7) / 8);
  std::memcpy(copy_.data(), bytes.data(), bytes.size());
  data_ = reinterpret_cast<const std::uint8_t*>(copy_.data());
}

const Message& open_message(const std::uint8_t* data, std::size_t size, const DecodeLimits& limits,
                            rankscope::Message& head) {
  if (size > limits.message_bytes)
    throw Refusal{fmt::format("{} are more than a message may have", counted(size, "byte"))};
  require(size >= least_bytes, "too short");
  require(MessageBufferHasIdentifier(data), "not a telemetry message");
  flatbuffers::Verifier verifier(data, size);
  require(VerifyMessageBuffer(verifier), "damaged");
  const Message& m = *GetMessage(data);
  require(m.session() != nullptr, "no session id");
  head.session = from_wire(*m.session());
  head.rank = static_cast<std::int32_t>(within(m.rank(), -1, limits.ranks - 1, "rank"));
  head.sequence = m.sequence();
  head.control_sequence = m.control_sequence();
  return m;
}

EventKind kind_of(const Message& message) {
  static_assert(static_cast<int>(Event::Hello) == static_cast<int>(EventKind::hello) + 1 &&
                static_cast<int>(Event::Gap) == static_cast<int>(EventKind::gap) + 1);
  require(message.event_type() != Event::NONE, "no event");
  if (message.event_type() > Event::Gap) throw FromTheFuture{};
  return static_cast<EventKind>(static_cast<std::uint8_t>(message.event_type()) - 1);
}

}  // namespace wire

Decoded decode(std::span<const std::byte> bytes, const DecodeLimits& limits) {
  EncodedMessage message(bytes, limits);
  return {message.outcome(), message.take(), message.error()};
}

std::optional<Envelope> peek(std::span<const std::byte> bytes, const DecodeLimits& limits) {
  if (bytes.size() > limits.message_bytes) return std::nullopt;
  const wire::Aligned aligned(bytes);
  Message head;
  try {
    wire::open_message(aligned.data(), bytes.size(), limits, head);
  } catch (const wire::Refusal&) {
    return std::nullopt;
  }
  return Envelope{head.session, head.rank, head.sequence};
}

}  // namespace rankscope
