// A child process without input: its standard output and error are read line by line, and it ends with its
// parent.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

class ChildProcess {
 public:
  /// Starts `arguments[0]` (looked up in PATH) with this process's environment and additionally `environment`
  /// ("NAME=value"). Throws std::runtime_error if that is impossible.
  ChildProcess(const std::vector<std::string>& arguments, const std::vector<std::string>& environment);
  /// Kills it if it is still running.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Passes the lines that arrive within `limit` to `line`; the wait status once the child has ended and all is read.
  std::optional<int> wait(std::chrono::milliseconds limit, const std::function<void(const std::string&)>& line);
  void signal(int number) const;
  pid_t pid() const { return pid_; }  ///< -1: it has ended

 private:
  pid_t pid_ = -1;
  int errors_ = -1;
  std::string rest_;
};

}  // namespace rankscope
