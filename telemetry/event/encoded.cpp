#include "telemetry/event/encoded.hpp"

#include "telemetry/event/message_time.hpp"
#include "telemetry/event/wire_event.hpp"

namespace rankscope {

struct EncodedMessage::State {
  State(std::span<const std::byte> given, const DecodeLimits& allowed)
      : bytes(given), limits(allowed), aligned(given.size() <= allowed.message_bytes ? given : given.first(0)) {}

  const std::span<const std::byte> bytes;
  const DecodeLimits limits;
  const wire::Aligned aligned;
  const wire::Message* wire = nullptr;
  Decoded::Outcome outcome = Decoded::Outcome::refused;
  std::string error;
  Envelope envelope;
  EventKind kind = EventKind::hello;
  wire::BatchBrief brief;
  Message message;  // without a batch's event, which is read on request
  bool whole = false;
};

EncodedMessage::EncodedMessage(std::span<const std::byte> bytes, const DecodeLimits& limits)
    : state_(std::make_unique<State>(bytes, limits)) {
  State& s = *state_;
  try {
    s.wire = &wire::open_message(s.aligned.data(), bytes.size(), limits, s.message);
    s.envelope = {s.message.session, s.message.rank, s.message.sequence};
    s.kind = wire::kind_of(*s.wire);
    if (is_batch(s.kind)) {
      s.brief = wire::check_batch(*s.wire, limits);
    } else {
      s.message.event = wire::read_single(*s.wire, limits);
      s.whole = true;
    }
    s.outcome = Decoded::Outcome::message;
  } catch (const wire::Refusal& refusal) {
    s.error = refusal.why;
  } catch (const wire::FromTheFuture&) {
    s.outcome = Decoded::Outcome::unknown;
  }
}
EncodedMessage::~EncodedMessage() = default;

Decoded::Outcome EncodedMessage::outcome() const { return state_->outcome; }
const std::string& EncodedMessage::error() const { return state_->error; }
std::span<const std::byte> EncodedMessage::bytes() const { return state_->bytes; }
const Envelope& EncodedMessage::envelope() const { return state_->envelope; }
EventKind EncodedMessage::kind() const { return state_->kind; }
Obtained EncodedMessage::obtained() const { return state_->brief.obtained; }

std::int64_t EncodedMessage::rows() const {
  return is_batch(state_->kind) ? static_cast<std::int64_t>(state_->brief.rows) : 1;
}

std::optional<TimeRange> EncodedMessage::time() const {
  if (!is_batch(state_->kind)) return time_of(state_->message.event);
  if (state_->brief.rows == 0) return std::nullopt;
  return TimeRange{state_->brief.begin_ns, state_->brief.end_ns};
}

Message EncodedMessage::take() {
  message();
  return std::move(state_->message);
}

const Message& EncodedMessage::message() const {
  State& s = *state_;
  if (!s.whole && s.outcome == Decoded::Outcome::message) {
    s.message.event = wire::read_batch(*s.wire, s.brief, s.limits);
    s.whole = true;
  }
  return s.message;
}

std::vector<EncodedMessage::StepExtent> EncodedMessage::step_extents() const {
  const State& s = *state_;
  if (s.outcome != Decoded::Outcome::message || s.kind != EventKind::spans) return {};
  return wire::step_extents(*s.wire->event_as_Spans(), s.limits);
}

void EventSink::accept_encoded(const EncodedMessage& message) { accept(message.message()); }

EventKind kind_of(const Event& event) { return static_cast<EventKind>(event.index()); }

}  // namespace rankscope
