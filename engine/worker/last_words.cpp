#include "engine/worker/last_words.hpp"

#include <signal.h>

namespace rankscope {
namespace {

constexpr std::chrono::milliseconds look_every{50};

}  // namespace

LastWords::LastWords() : signals_{SIGTERM}, thread_([this] { wait(); }) {}

LastWords::~LastWords() {
  done_ = true;
  thread_.join();
}

void LastWords::set(std::function<void()> say) {
  const std::lock_guard lock(mutex_);
  say_ = std::move(say);
}

void LastWords::wait() {
  while (!done_) {
    if (!signals_.wait(look_every)) continue;
    {
      const std::lock_guard lock(mutex_);
      if (say_) say_();
    }
    signal(SIGTERM, SIG_DFL);
    raise(SIGTERM);
  }
}

}  // namespace rankscope
