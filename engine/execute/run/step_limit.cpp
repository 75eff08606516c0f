#include "engine/execute/run/step_limit.hpp"

#include <algorithm>

namespace rankscope {

bool StepLimit::begins(std::uint32_t step) {
  std::unique_lock lock(mutex_);
  if (step < begun_) return true;
  goes_on_.wait(lock, [this] { return !held_; });
  if (end_ && step >= *end_) return false;
  begun_ = std::max(begun_, step + 1);
  return true;
}

std::uint32_t StepLimit::hold() {
  const std::lock_guard lock(mutex_);
  held_ = true;
  return begun_;
}

void StepLimit::go_on(std::optional<std::uint32_t> end) {
  {
    const std::lock_guard lock(mutex_);
    held_ = false;
    end_ = end;
  }
  goes_on_.notify_all();
}

std::optional<std::uint32_t> StepLimit::end() const {
  const std::lock_guard lock(mutex_);
  return end_;
}

}  // namespace rankscope
