// The clocks of this process, in nanoseconds.
#pragma once
#include <time.h>

#include <cstdint>

namespace rankscope {

/// CLOCK_MONOTONIC: one for all processes of a host.
inline std::int64_t monotonic_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// CPU time of the calling thread.
inline std::int64_t thread_cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace rankscope
