// A rank that says nothing any more while the run goes on: named on standard error within seconds, long before the time
// limits of its peers end the run.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "telemetry/relay/session_watch.hpp"

namespace rankscope {

class SilenceReport {
 public:
  /// `child`: the worker, or the launcher of all workers. `peers_wait`: how long ranks wait for each other at most.
  SilenceReport(const SessionWatch& watch, pid_t child, std::chrono::seconds peers_wait)
      : watch_(watch), child_(child), peers_wait_(peers_wait) {}

  /// Looks once in a while, and names ranks that have fallen silent or that report again, a line for each change.
  /// `say` gets the line.
  template <class Say>
  void look(Say say) {
    for (const std::string& line : changes()) say(line);
  }

  /// Why the child has to be ended: it is stopped by a signal, with all its ranks, for longer than any rank may wait.
  /// Empty: it has not.
  std::string over() const;

 private:
  using Clock = std::chrono::steady_clock;
  std::vector<std::string> changes();

  const SessionWatch& watch_;
  const pid_t child_;
  const std::chrono::seconds peers_wait_;
  Clock::time_point looked_at_ = Clock::now();
  Clock::time_point awake_since_ = looked_at_;  ///< this process, too, can be stopped, and hears nobody then
  Clock::time_point stopped_since_{};           ///< the child
  std::set<std::int32_t> silent_;
};

}  // namespace rankscope
