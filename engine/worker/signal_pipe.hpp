// Signals that this process is sent, one after the other, on whichever thread waits for them. Blocking them does not
// do: libraries have made threads before main, which would take them.
#pragma once
#include <chrono>
#include <initializer_list>
#include <optional>
#include <vector>

namespace rankscope {

/// One of a process at a time.
class SignalPipe {
 public:
  /// From now on these signals do nothing but arrive here. Throws std::runtime_error.
  explicit SignalPipe(std::initializer_list<int> signals);
  /// They have their default effect again.
  ~SignalPipe();
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;

  /// The next one's number; nullopt when the limit comes first.
  std::optional<int> wait(std::chrono::milliseconds limit) const;

 private:
  const std::vector<int> signals_;
  int read_end_ = -1;
};

}  // namespace rankscope
