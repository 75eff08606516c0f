// Converts between Message and its wire form (event.fbs). Decoding validates everything: the bytes may be from any peer
// or from a damaged file.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/event/event.hpp"

namespace rankscope {

/// The limits for one message that a reader accepts.
struct DecodeLimits {
  std::size_t message_bytes = std::size_t{64} << 20;
  std::size_t rows = std::size_t{1} << 20;  ///< of a batch
  std::int32_t ranks = 1 << 20;             ///< ranks are below this
};

struct Decoded {
  enum class Outcome {
    message,  ///< `message` is complete and every value is in its range
    unknown,  ///< valid, but of a kind this build does not know: only the fields before `event` are set. Skip and count
    refused,  ///< not our format, damaged or out of range: `error` contains the reason
  };
  Outcome outcome = Outcome::refused;
  Message message;
  std::string error;
  explicit operator bool() const { return outcome == Outcome::message; }
};

/// The wire form. In text that is not UTF-8, invalid bytes are replaced by '?'. Throws std::length_error for a batch of
/// more rows than DecodeLimits{} allows. Spans must have begin <= active <= end, phases begin <= end; readers reject
/// others.
std::vector<std::byte> encode(const Message& message);

/// The same, for callers that encode often: it reuses its own memory. The bytes are valid until the next call.
class Encoder {
 public:
  Encoder();
  ~Encoder();
  std::span<const std::byte> encode(const Message& message);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Throws nothing except std::bad_alloc, never reads outside `bytes`, and allocates at most one row per byte and at
/// most `rows` rows. `bytes` need not be aligned. Op ids of kinds, purposes or segments that this build does not know
/// are kept (see OpId::valid()); "no op" is accepted for memory samples only.
Decoded decode(std::span<const std::byte> bytes, const DecodeLimits& limits = {});

/// The sender of a message, without reading its event: nullopt if it is damaged or not telemetry.
struct Envelope {
  SessionId session{};
  std::int32_t rank = 0;
  std::uint64_t sequence = 0;
  bool operator==(const Envelope&) const = default;
};
std::optional<Envelope> peek(std::span<const std::byte> bytes, const DecodeLimits& limits = {});

/// The compiled schema (a FlatBuffers .bfbs) and its root type's name, for self-describing files.
std::span<const std::byte> event_schema();
std::string_view event_schema_root();

/// The id as 32 hexadecimal digits, and back; a fresh one from the system's random source.
std::string to_string(const SessionId& session);
bool parse_session(std::string_view text, SessionId& session);
SessionId new_session_id();

}  // namespace rankscope
