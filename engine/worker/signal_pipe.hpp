// Signals sent to this process, one after the other, on any thread that waits for them. Blocking them is not
// enough: libraries start threads before main, which would receive them.
#pragma once
#include <chrono>
#include <initializer_list>
#include <optional>
#include <vector>

namespace rankscope {

/// Only one per process at a time.
class SignalPipe {
 public:
  /// From now on these signals only arrive here. Throws std::runtime_error.
  explicit SignalPipe(std::initializer_list<int> signals);
  /// Restores their default effect.
  ~SignalPipe();
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;

  /// The next one's number; nullopt if the limit is reached first.
  std::optional<int> wait(std::chrono::milliseconds limit) const;

 private:
  const std::vector<int> signals_;
  int read_end_ = -1;
};

}  // namespace rankscope
