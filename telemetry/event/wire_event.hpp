// Shared by decode() and EncodedMessage: a verified message's parts, checked and read.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "telemetry/event/encoded.hpp"
#include "telemetry/event/wire_column.hpp"

namespace rankscope::wire {

/// Thrown for an unknown enumerator that determines the meaning of the complete event.
struct FromTheFuture {};

inline constexpr std::int64_t greatest_time_ns = (std::int64_t{1} << 62) - 1;  // 146 years; sums of two still fit
inline constexpr std::int64_t greatest_bytes = std::int64_t{1} << 60;

inline std::int64_t time_in_range(std::int64_t value) {
  return within(value, -greatest_time_ns, greatest_time_ns, "time");
}
template <class E>
E known(std::uint8_t value, E last) {
  if (value > static_cast<std::uint8_t>(last)) throw FromTheFuture{};
  return static_cast<E>(value);
}

/// Memory that FlatBuffers can read scalars from in place: sockets and files promise no alignment.
class Aligned {
 public:
  explicit Aligned(std::span<const std::byte> bytes);
  const std::uint8_t* data() const { return data_; }

 private:
  const std::uint8_t* data_;
  std::vector<std::uint64_t> copy_;
};

/// The verified message; `head` gets all of it except the event. Throws Refusal.
const Message& open_message(const std::uint8_t* data, std::size_t size, const DecodeLimits& limits,
                            rankscope::Message& head);
/// Throws Refusal if there is no event, FromTheFuture for an unknown one.
EventKind kind_of(const Message& message);

/// An event that is not a batch. Throws Refusal and FromTheFuture.
rankscope::Event read_single(const Message& message, const DecodeLimits& limits);

/// Of a batch that passed the checks.
struct BatchBrief {
  Obtained obtained = Obtained::measured;
  ClockDomain clock = ClockDomain::wall;
  std::size_t rows = 0;
  std::int64_t begin_ns = 0, end_ns = 0;  ///< of all rows together
};
/// Throws Refusal and FromTheFuture.
BatchBrief check_batch(const Message& message, const DecodeLimits& limits);
/// Of a batch that passed check_batch.
rankscope::Event read_batch(const Message& message, const BatchBrief& brief, const DecodeLimits& limits);
std::vector<EncodedMessage::StepExtent> step_extents(const Spans& spans, const DecodeLimits& limits);

}  // namespace rankscope::wire
