// A message in its wire form, checked but not decoded: forwarding does not need to decode it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "telemetry/event/codec.hpp"
#include "telemetry/event/time_range.hpp"

namespace rankscope {

/// In the order of Event's alternatives.
enum class EventKind : std::uint8_t { hello, program, clock, end, summary, spans, memory, phases, gap };
EventKind kind_of(const Event& event);
inline bool is_batch(EventKind kind) {
  return kind == EventKind::spans || kind == EventKind::memory || kind == EventKind::phases;
}
inline bool is_reliable(EventKind kind) { return kind <= EventKind::summary; }

class EncodedMessage {
 public:
  /// Makes the same checks as decode(), and allocates nothing for a batch. `bytes` are not copied and must outlive it.
  explicit EncodedMessage(std::span<const std::byte> bytes, const DecodeLimits& limits = {});
  ~EncodedMessage();
  EncodedMessage(const EncodedMessage&) = delete;
  EncodedMessage& operator=(const EncodedMessage&) = delete;

  Decoded::Outcome outcome() const;
  const std::string& error() const;  ///< why it is rejected
  std::span<const std::byte> bytes() const;

  /// The functions below are valid unless it is rejected; kind() and those after it only if the outcome is `message`.
  const Envelope& envelope() const;
  EventKind kind() const;
  Obtained obtained() const;              ///< of a batch
  std::int64_t rows() const;              ///< of a batch; 1 for anything else
  std::optional<TimeRange> time() const;  ///< as time_of() defines it
  const Message& message() const;         ///< decoded at the first call, then cached; one thread
  Message take();                         ///< the same, moved out

  /// Of a batch of spans: when each step ran on each rank, one entry per run of rows of the same step and rank.
  struct StepExtent {
    std::int32_t rank = 0;
    std::uint32_t step = 0;
    std::int64_t first_compute_ns = INT64_MAX;  ///< begin of the first op on the compute lane; INT64_MAX: none
    std::int64_t first_ns = INT64_MAX, last_end_ns = INT64_MIN;
  };
  std::vector<StepExtent> step_extents() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rankscope
