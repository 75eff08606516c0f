// Writes events to a sink as if each rank had sent them: with the sequence numbers that a store checks.
#pragma once
#include <map>
#include <utility>

#include "telemetry/event/event.hpp"

namespace rankscope {

class EventSender {
 public:
  explicit EventSender(EventSink& to, SessionId session = {}) : to_(to), session_(session) {}
  /// `rank` is the sender; -1 the supervisor.
  void add(int rank, Event event) {
    Counts& counts = counts_[rank];
    if (is_control(event)) ++counts.control;
    to_.accept({session_, rank, ++counts.messages, counts.control, std::move(event)});
  }

 private:
  struct Counts {
    std::uint64_t messages = 0, control = 0;
  };
  EventSink& to_;
  SessionId session_;
  std::map<int, Counts> counts_;
};

}  // namespace rankscope
