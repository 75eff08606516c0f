// Detects a rank that stops responding during the run: it is reported on standard error within seconds, and the run is
// ended if the rank certainly cannot continue, long before the time limits of its peers.
//
// A worker's heartbeat has its own thread, so a rank that is only slow is not silent. On this host the state of
// its process also shows that a signal stopped it; one that only waits for a processor, or that a debugger holds,
// is not ended. On other hosts only the heartbeat is available, and it can fail while the rank runs: such a rank is
// given up only if no rank finishes a step either.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "telemetry/relay/session_watch.hpp"

namespace rankscope {

/// Where the ranks of a run are.
struct RankPlaces {
  pid_t child = 0;                  ///< the worker, or the launcher of all workers
  bool one_process = true;          ///< all ranks are threads of the child
  bool other_hosts = false;         ///< ranks may be on other hosts
  std::string launched_namespace;   ///< of a job that a launcher has started (PMIX_NAMESPACE): other ranks' processes
  std::filesystem::path directory;  ///< the session's, with the ranks' step marks
};

struct SilenceLimits {
  std::chrono::milliseconds look_every{500};
  std::chrono::milliseconds silence{5000};      ///< a worker sends a heartbeat at least every 1.25 s
  std::chrono::milliseconds stopped{4000};      ///< that a silent rank's process is stopped before the run is ended
  std::chrono::milliseconds elsewhere{10000};   ///< that one elsewhere is silent, or two of the longest steps so far
  std::chrono::milliseconds peers_wait{60000};  ///< how long ranks wait for each other at most
};

/// Why the run has to be ended.
struct SilentEnd {
  std::int32_t rank = -1;        ///< the rank at fault; -1: all of them are silent
  std::string why;               ///< "its process 123 was stopped by a signal for 4 s, and was ended"
  std::vector<pid_t> processes;  ///< to be killed; none: the child must end them
};

class SilenceReport {
 public:
  SilenceReport(const SessionWatch& watch, RankPlaces places, SilenceLimits limits = {})
      : watch_(watch), places_(std::move(places)), limits_(limits) {}

  /// Checks periodically, and reports ranks that have become silent or that respond again, one line per change.
  /// `say` receives the line.
  template <class Print>
  void poll(Print print) {
    for (const std::string& line : changes()) print(line);
  }

  /// Ranks that are silent now, and the time of day since when.
  std::map<std::int32_t, std::string> silent() const;

  /// At the last check; nullopt: it need not be ended.
  std::optional<SilentEnd> over() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Silent {
    std::string since;  // "14:03:22"
    Clock::time_point named_at;
    pid_t process = 0;                  // on this host; 0: none found here
    Clock::time_point stopped_since{};  // by a signal; zero: not stopped
  };
  std::vector<std::string> changes();
  void check_processes(Clock::time_point now);
  void check_progress(Clock::time_point now);
  std::string named(const std::vector<std::int32_t>& ranks) const;
  std::int64_t least_step(const std::vector<std::int32_t>& ranks) const;
  bool is_elsewhere(std::int32_t rank, const Silent& of) const;
  Clock::duration patience_elsewhere() const;

  const SessionWatch& watch_;
  const RankPlaces places_;
  const SilenceLimits limits_;
  Clock::time_point looked_at_ = Clock::now();
  Clock::time_point awake_since_ = looked_at_;  // this process can also be stopped, and then receives nothing
  Clock::time_point stopped_since_{};           // the child
  std::map<std::int32_t, Silent> silent_;
  std::int64_t step_ = -1;  // the greatest that any rank has finished
  Clock::time_point step_at_{};
  Clock::duration longest_step_{};
};

}  // namespace rankscope
