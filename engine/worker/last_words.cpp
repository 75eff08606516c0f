#include "engine/worker/last_words.hpp"

#include <signal.h>
#include <time.h>

namespace rankscope {
namespace {

constexpr timespec look_every{0, 50'000'000};

sigset_t termination() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

LastWords::LastWords() {
  const sigset_t set = termination();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([this] { wait(); });
}

LastWords::~LastWords() {
  done_ = true;
  thread_.join();
  const sigset_t set = termination();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void LastWords::set(std::function<void()> say) {
  const std::lock_guard lock(mutex_);
  say_ = std::move(say);
}

void LastWords::wait() {
  const sigset_t set = termination();
  while (!done_) {
    if (sigtimedwait(&set, nullptr, &look_every) != SIGTERM) continue;
    {
      const std::lock_guard lock(mutex_);
      if (say_) say_();
    }
    signal(SIGTERM, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    raise(SIGTERM);
  }
}

}  // namespace rankscope
