#include "engine/worker/worker_signals.hpp"

#include <signal.h>
#include <unistd.h>

#include "engine/worker/exit_status.hpp"

namespace rankscope {
namespace {

constexpr std::chrono::milliseconds look_every{50};

}  // namespace

WorkerSignals::WorkerSignals() : signals_{SIGTERM, SIGUSR1}, thread_([this] { wait(); }) {}

WorkerSignals::~WorkerSignals() {
  done_ = true;
  thread_.join();
}

void WorkerSignals::set_report(std::function<void()> report) {
  const std::lock_guard lock(mutex_);
  report_ = std::move(report);
}

void WorkerSignals::expect_request(bool is_dismissed) {
  expects_request_ = true;
  if (is_dismissed) return;
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) signal(number, SIG_IGN);
}

void WorkerSignals::wait() {
  while (!done_) {
    const auto number = signals_.wait(look_every);
    if (!number) continue;
    if (number == SIGUSR1 && expects_request_) {
      is_asked_to_stop_ = true;
      continue;
    }
    {
      const std::lock_guard lock(mutex_);
      if (report_) report_();
    }
    if (number == SIGUSR1) _exit(status::stopped);
    signal(SIGTERM, SIG_DFL);
    raise(SIGTERM);
  }
}

}  // namespace rankscope
