// A child process without input: its standard output and error are read line by line, and it ends with its
// parent.
#pragma once
#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

class ChildProcess {
 public:
  /// The signals by which it is ended, and that it does not receive.
  struct Signals {
    int end = SIGTERM;  ///< also sent to it when its parent dies
    std::vector<int> blocked{};
  };
  /// Starts `arguments[0]` (looked up in PATH) with this process's environment and additionally `environment`
  /// ("NAME=value"). Throws std::runtime_error if that is impossible.
  ChildProcess(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
               Signals signals = {SIGTERM, {}});
  /// Kills it if it is still running.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Passes the lines that arrive within `limit` to `line`; the wait status once the child has ended and all is read.
  std::optional<int> wait(std::chrono::milliseconds limit, const std::function<void(const std::string&)>& line);
  /// It gets the signal also if it is stopped.
  void signal(int number) const;
  /// Asks it to end now.
  void end() const { signal(signals_.end); }
  pid_t pid() const { return pid_; }  ///< -1: it has ended

 private:
  const Signals signals_;
  pid_t pid_ = -1;
  int errors_ = -1;
  std::string rest_;
};

}  // namespace rankscope
