#include "telemetry/relay/exchange.hpp"

#include <algorithm>

namespace rankscope {

Exchange::Exchange(SessionId session, std::size_t ring_bytes, std::vector<EventSink*> taps, DecodeLimits limits)
    : session_(session), limits_(limits), taps_(std::move(taps)), ring_(ring_bytes) {}

bool Exchange::adopt(const SessionId& session) {
  if (session_ == SessionId{}) session_ = session;
  return session_ == session;
}

bool Exchange::seen(std::int32_t sender, std::uint64_t sequence) const {
  const auto found = senders_.find(sender);
  return found != senders_.end() && found->second.seen.contains(sequence);
}

bool Exchange::complete(std::int32_t sender) const {
  const auto found = senders_.find(sender);
  return found != senders_.end() && found->second.seen.contiguous() == found->second.seen.greatest();
}

Exchange::Coverage Exchange::coverage_of(const EncodedMessage& message) {
  if (message.outcome() != Decoded::Outcome::message || is_reliable(message.kind())) return {};
  const TimeRange time = message.time().value_or(TimeRange{});
  if (message.kind() == EventKind::gap)
    return {time.begin_ns, time.end_ns, std::get<Gap>(message.message().event).events};
  return {time.begin_ns, time.end_ns, message.rows()};
}

Exchange::Receipt Exchange::take(SharedBytes bytes, std::optional<SpoolPosition> position) {
  const EncodedMessage message(bytes.bytes, limits_);
  const Envelope& from = message.envelope();
  if (message.outcome() == Decoded::Outcome::refused) return {Taken::refused, 0, message.error()};
  if (from.session != session_) return {Taken::foreign, from.rank, {}};
  // Only gaps for one viewer have no number, and no worker sends those.
  if (from.sequence == 0) return {Taken::refused, from.rank, "a message without a number"};
  Sender& sender = senders_[from.rank];
  const bool unknown = message.outcome() == Decoded::Outcome::unknown;
  const Coverage coverage = coverage_of(message);
  note_hole(from.rank, sender, from.sequence, coverage);
  if (!sender.seen.insert(from.sequence)) return {Taken::doubled, from.rank, {}};
  sender.latest_end_ns = std::max(sender.latest_end_ns, coverage.end_ns);
  if (!unknown) {
    for (EventSink* tap : taps_) tap->accept_encoded(message);
    if (is_reliable(message.kind())) {
      log_.append(bytes.bytes);
      return {Taken::fresh, from.rank, {}};
    }
  }
  ring_.push(
      {from.rank, from.sequence, coverage.begin_ns, coverage.end_ns, coverage.events, position, std::move(bytes)});
  return {unknown ? Taken::unknown : Taken::fresh, from.rank, {}};
}

void Exchange::publish(Event event) {
  if (is_control(event)) ++own_control_sequence_;
  take(shared(encode({session_, -1, ++own_sequence_, own_control_sequence_, std::move(event)})), std::nullopt);
}

void Exchange::note_hole(std::int32_t sender_rank, Sender& sender, std::uint64_t sequence, const Coverage& coverage) {
  const std::uint64_t expected = sender.seen.greatest() + 1;
  if (sequence <= expected) return;
  const std::int64_t end =
      coverage.events > 0 ? std::max(coverage.begin_ns, sender.latest_end_ns) : sender.latest_end_ns;
  holes_.push_back({sender_rank, expected, sequence - 1, sender.latest_end_ns, end, std::chrono::steady_clock::now()});
}

void Exchange::tick() {
  for (EventSink* tap : taps_) tap->tick();
}

void Exchange::close_filled_holes() {
  std::erase_if(holes_, [&](const Hole& h) { return senders_[h.sender].seen.missing(h.first, h.last).empty(); });
}

std::int64_t Exchange::give_up_holes(std::chrono::steady_clock::duration grace) {
  close_filled_holes();
  const auto now = std::chrono::steady_clock::now();
  std::vector<Hole> due;
  std::erase_if(holes_, [&](const Hole& h) {
    if (now - h.since < grace) return false;
    due.push_back(h);
    return true;
  });
  std::int64_t lost = 0;
  for (const Hole& h : due)
    for (const auto& [first, last] : senders_[h.sender].seen.missing(h.first, h.last)) {
      lost += static_cast<std::int64_t>(last - first + 1);
      if (h.sender >= 0) publish(Gap{h.sender, h.begin_ns, h.end_ns, 0, first, last});
    }
  return lost;
}

}  // namespace rankscope
