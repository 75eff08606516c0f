// Wakes one waiting thread and gives it the reason: ringing is a POSIX semaphore's post, which neither blocks
// nor gets lost.
#pragma once
#include <errno.h>
#include <semaphore.h>
#include <time.h>

#include <atomic>
#include <chrono>

namespace rankscope {

class Bell {
 public:
  Bell() { sem_init(&semaphore_, 0, 0); }
  ~Bell() { sem_destroy(&semaphore_); }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  /// Any thread; `reason` is one bit or several.
  void ring(unsigned reason) {
    reasons_.fetch_or(reason, std::memory_order_relaxed);  // visible to the thread that the post wakes
    sem_post(&semaphore_);
  }

  /// Returns after any ring since the last call, or after `limit`: the reasons, 0 if it did not ring.
  unsigned wait(std::chrono::nanoseconds limit) {
    timespec until{};
    clock_gettime(CLOCK_MONOTONIC, &until);
    const auto ns = until.tv_nsec + limit.count();
    until.tv_sec += ns / 1'000'000'000;
    until.tv_nsec = ns % 1'000'000'000;
    while (sem_clockwait(&semaphore_, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR) {
    }
    while (sem_trywait(&semaphore_) == 0) {
    }
    return reasons_.exchange(0, std::memory_order_relaxed);
  }

 private:
  sem_t semaphore_{};
  std::atomic<unsigned> reasons_{0};
};

}  // namespace rankscope
