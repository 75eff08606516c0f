#include "engine/worker/exit_report.hpp"

#include <signal.h>

namespace rankscope {
namespace {

constexpr std::chrono::milliseconds look_every{50};

}  // namespace

ExitReport::ExitReport() : signals_{SIGTERM}, thread_([this] { wait(); }) {}

ExitReport::~ExitReport() {
  done_ = true;
  thread_.join();
}

void ExitReport::set(std::function<void()> report) {
  const std::lock_guard lock(mutex_);
  report_ = std::move(report);
}

void ExitReport::wait() {
  while (!done_) {
    if (!signals_.wait(look_every)) continue;
    {
      const std::lock_guard lock(mutex_);
      if (report_) report_();
    }
    signal(SIGTERM, SIG_DFL);
    raise(SIGTERM);
  }
}

}  // namespace rankscope
