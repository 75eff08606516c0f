// Runs simple loops on all of the machine's threads: with the sizes of models they take minutes on one.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace rankscope::kernels::test {

/// Calls body(i) for every i of [0, n), in any order. `operations`: the total number; threads are started only if it is
/// large.
template <class Body>
void for_each_in_parallel(std::int64_t n, double operations, Body body) {
  constexpr double few = 1e7;
  const auto threads = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    for (std::int64_t i = next++; i < n; i = next++) body(i);
  };
  std::vector<std::jthread> helpers;
  for (std::int64_t t = 1; operations > few && t < std::min(threads, n); ++t) helpers.emplace_back(work);
  work();
}

}  // namespace rankscope::kernels::test
