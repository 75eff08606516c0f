// The end of a run that is asked to stop: after which step its lanes begin no other. They are in different steps, so
// the last one is the latest that any lane has begun: every lane can then finish it.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

namespace rankscope {

/// One for the ranks of a process. Any thread.
class StepLimit {
 public:
  /// On a lane's thread, before its first op of a step; waits while the lanes are held. False: the run ends before it.
  bool begins(std::uint32_t step);
  /// From now on no lane begins a later step than those that have begun. Returns the latest one's number + 1; 0: none
  /// has begun.
  std::uint32_t hold();
  /// The lanes go on, and begin no step from `end` on; nullopt: they go on without a limit. `end` is at least what
  /// hold() returned.
  void go_on(std::optional<std::uint32_t> end);
  std::optional<std::uint32_t> end() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable goes_on_;
  bool held_ = false;
  std::uint32_t begun_ = 0;  ///< the number of the latest begun step + 1
  std::optional<std::uint32_t> end_;
};

}  // namespace rankscope
