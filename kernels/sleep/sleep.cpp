#include "kernels/sleep/sleep.hpp"

#include <sys/prctl.h>
#include <time.h>

#include <cerrno>

namespace rankscope::kernels {
namespace {

constexpr std::int64_t ns_per_s = 1'000'000'000;

}  // namespace

void sleep_precisely() { prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); }

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * ns_per_s + now.tv_nsec;
}

std::int64_t sleep_until(std::int64_t deadline_ns) {
  const timespec deadline{deadline_ns / ns_per_s, deadline_ns % ns_per_s};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr) == EINTR) {
  }
  return monotonic_ns() - deadline_ns;
}

}  // namespace rankscope::kernels
