// Waits with a limit for the work of other threads and processes.
#pragma once
#include <chrono>
#include <thread>

namespace rankscope::test {

/// Checks `is()` every few milliseconds until it returns true; false if the limit is reached first.
template <class Condition>
bool wait_until(std::chrono::milliseconds limit, Condition is) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!is()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  return true;
}

}  // namespace rankscope::test
