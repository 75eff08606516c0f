#include "telemetry/trace/lost_messages.hpp"

#include <algorithm>

#include "telemetry/event/message_time.hpp"

namespace rankscope {
namespace {

/// When everything that was sent before this message had happened: spans come in the order of their begins, and what
/// sums up a time comes behind it.
std::int64_t all_before_by(const Event& event, const TimeRange& time) {
  return std::holds_alternative<SpanBatch>(event) ? time.begin_ns : time.end_ns;
}

}  // namespace

void LostMessages::accept(const Message& message) {
  session_ = message.session;
  if (const auto* gap = std::get_if<Gap>(&message.event); gap && gap->first_sequence != 0) {
    senders_[gap->rank].told.emplace_back(gap->first_sequence, gap->last_sequence);
    return;
  }
  if (message.sequence == 0) return;
  Sender& sender = senders_[message.rank];
  const auto time = time_of(message.event);
  if (message.sequence > sender.greatest + 1) {
    const std::int64_t begin = sender.last_end_ns,
                       end = time ? std::max(all_before_by(message.event, *time), begin) : begin;
    sender.holes.push_back({sender.greatest + 1, message.sequence - 1, begin, end});
  } else if (message.sequence <= sender.greatest) {
    // It came late into a hole, or twice.
    const auto hole = std::find_if(sender.holes.begin(), sender.holes.end(), [&](const Hole& h) {
      return h.first <= message.sequence && message.sequence <= h.last;
    });
    if (hole != sender.holes.end()) {
      Hole behind = *hole;
      behind.first = message.sequence + 1;
      hole->last = message.sequence - 1;
      const bool nothing_before = hole->last<hole->first, nothing_behind = behind.first> behind.last;
      if (nothing_before && nothing_behind) {
        sender.holes.erase(hole);
      } else if (nothing_before) {
        *hole = behind;
      } else if (!nothing_behind) {
        sender.holes.insert(hole + 1, behind);
      }
    }
  } else if (!sender.holes.empty() && sender.holes.back().last + 1 == sender.greatest && time &&
             sender.holes.back().end_ns <= sender.holes.back().begin_ns) {
    // The message behind the hole had no time of its own.
    sender.holes.back().end_ns = std::max(sender.holes.back().begin_ns, all_before_by(message.event, *time));
  }
  sender.greatest = std::max(sender.greatest, message.sequence);
  if (time) sender.last_end_ns = std::max(sender.last_end_ns, time->end_ns);
}

std::vector<Message> LostMessages::gaps() const {
  std::vector<Message> gaps;
  for (const auto& [rank, sender] : senders_)
    for (const Hole& hole : sender.holes) {
      const bool told = std::any_of(sender.told.begin(), sender.told.end(), [&](const auto& interval) {
        return interval.first <= hole.first && hole.last <= interval.second;
      });
      if (told) continue;
      // The number of events in a lost message is unknown: at least one.
      Gap gap{rank,       hole.begin_ns, hole.end_ns, static_cast<std::int64_t>(hole.last - hole.first + 1),
              hole.first, hole.last};
      if (gap.begin_ns == INT64_MIN) gap.begin_ns = gap.end_ns == INT64_MIN ? 0 : std::min<std::int64_t>(0, gap.end_ns);
      gap.end_ns = std::max(gap.begin_ns, gap.end_ns);
      Message& message = gaps.emplace_back();
      message.session = session_;
      message.rank = rank;
      message.event = gap;
    }
  return gaps;
}

}  // namespace rankscope
