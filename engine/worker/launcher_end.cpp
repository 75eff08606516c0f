#include "engine/worker/launcher_end.hpp"

#include <algorithm>

#include "engine/worker/processes.hpp"

namespace rankscope {
namespace {

bool has_running_child(pid_t process) {
  const auto children = children_of(process);
  return std::any_of(children.begin(), children.end(), [](pid_t child) {
    const auto state = state_of(child);
    return state && !state->has_ended();
  });
}

}  // namespace

bool LauncherEnd::is_overdue() {
  const auto now = std::chrono::steady_clock::now();
  if (now - observed_at_ >= every_) {
    observed_at_ = now;
    const bool any = has_running_child(launcher_);
    has_started_ = has_started_ || any;
    without_any_ = any || !has_started_ ? 0 : without_any_ + 1;
  }
  return without_any_ >= observations_;
}

}  // namespace rankscope
