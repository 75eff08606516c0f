#include "telemetry/trace/lost_messages.hpp"

#include <algorithm>

#include "telemetry/event/message_time.hpp"

namespace rankscope {
namespace {

/// The time by which everything sent before this message had happened: spans are sent in order of their begin, and a
/// summary is sent after its time.
std::int64_t all_before_by(const Event& event, const TimeRange& time) {
  return std::holds_alternative<SpanBatch>(event) ? time.begin_ns : time.end_ns;
}

}  // namespace

void LostMessages::accept(const Message& message) {
  session_ = message.session;
  if (const auto* gap = std::get_if<Gap>(&message.event); gap && gap->first_sequence != 0) {
    senders_[gap->rank].reported.insert({gap->first_sequence, gap->last_sequence});
    return;
  }
  if (message.sequence == 0) return;
  Sender& sender = senders_[message.rank];
  const auto time = time_of(message.event);
  const std::uint64_t greatest = sender.seen.greatest();
  sender.seen.insert(message.sequence);
  if (message.sequence > greatest + 1) {
    const std::int64_t begin = sender.last_end_ns,
                       end = time ? std::max(all_before_by(message.event, *time), begin) : begin;
    sender.holes.push_back({{greatest + 1, message.sequence - 1}, begin, end});
  } else if (message.sequence > greatest && !sender.holes.empty() && time) {
    Hole& hole = sender.holes.back();
    // The message after the hole had no time of its own.
    if (hole.numbers.last + 1 == greatest && hole.end_ns <= hole.begin_ns)
      hole.end_ns = std::max(hole.begin_ns, all_before_by(message.event, *time));
  }
  if (time) sender.last_end_ns = std::max(sender.last_end_ns, time->end_ns);
}

std::vector<Message> LostMessages::gaps() const {
  std::vector<Message> gaps;
  for (const auto& [rank, sender] : senders_)
    for (const Hole& hole : sender.holes)
      for (const auto& [first, last] : sender.seen.missing(hole.numbers.first, hole.numbers.last)) {
        if (sender.reported.contains({first, last})) continue;
        // The number of events in a lost message is unknown: at least one.
        Gap gap{rank, hole.begin_ns, hole.end_ns, static_cast<std::int64_t>(last - first + 1), first, last};
        if (gap.begin_ns == INT64_MIN)
          gap.begin_ns = gap.end_ns == INT64_MIN ? 0 : std::min<std::int64_t>(0, gap.end_ns);
        gap.end_ns = std::max(gap.begin_ns, gap.end_ns);
        Message& message = gaps.emplace_back();
        message.session = session_;
        message.rank = rank;
        message.event = gap;
      }
  return gaps;
}

}  // namespace rankscope
