#include "engine/worker/launcher_end.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace rankscope {
namespace {

/// A process that has ended and that its parent has not waited for does not run.
bool runs(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(file, text);
  const auto name_end = text.rfind(") ");
  return name_end != std::string::npos && name_end + 2 < text.size() && text[name_end + 2] != 'Z';
}

/// Whether a child of any of its threads runs.
bool has_running_child(pid_t process) {
  std::error_code ignored;
  for (std::filesystem::directory_iterator thread(fmt::format("/proc/{}/task", process), ignored), end;
       !ignored && thread != end; thread.increment(ignored)) {
    std::ifstream children(thread->path() / "children");
    for (pid_t child = 0; children >> child;)
      if (runs(child)) return true;
  }
  return false;
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
