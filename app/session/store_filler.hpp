// SPDX-License-Identifier: GPL-3.0-or-later
// Writes events to a store as if each rank had sent them: with the sequence numbers that a store checks.
#pragma once
#include <map>

#include "telemetry/store/run_store.hpp"

namespace rankscope::app {

class StoreFiller {
 public:
  explicit StoreFiller(RunStore& store, SessionId session = {}) : store_(store), session_(session) {}
  /// `rank` is the sender; -1 the supervisor.
  void add(int rank, Event event) {
    Counts& counts = counts_[rank];
    if (is_control(event)) ++counts.control;
    store_.accept({session_, rank, ++counts.messages, counts.control, std::move(event)});
  }

 private:
  struct Counts {
    std::uint64_t messages = 0, control = 0;
  };
  RunStore& store_;
  SessionId session_;
  std::map<int, Counts> counts_;
};

}  // namespace rankscope::app
