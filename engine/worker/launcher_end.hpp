// Detects a launcher that does not end although all processes that it started have ended. Open MPI 4 can wait for ever
// for a lock of its own while it ends, if it could not make a thread.
#pragma once
#include <sys/types.h>

#include <chrono>

namespace rankscope {

class LauncherEnd {
 public:
  /// `observations` in a row, at least `every` apart, must find no process that runs. They are counted, because
  /// this process can be stopped for any time together with the launcher.
  explicit LauncherEnd(pid_t launcher, int observations = 16,
                       std::chrono::milliseconds every = std::chrono::milliseconds(500))
      : launcher_(launcher), observations_(observations), every_(every) {}

  /// True if the launcher has started processes on this host, and none of them has run for the time above.
  bool is_overdue();

 private:
  const pid_t launcher_;
  const int observations_;
  const std::chrono::milliseconds every_;
  std::chrono::steady_clock::time_point observed_at_{};
  bool has_started_ = false;
  int without_any_ = 0;
};

}  // namespace rankscope
