// Patience with a limit, for what other threads and processes do.
#pragma once
#include <chrono>
#include <thread>

namespace rankscope::test {

/// Looks every few milliseconds until `is()` holds; false when the limit comes first.
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
