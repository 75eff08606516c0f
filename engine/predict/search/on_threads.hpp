// One list of work, shared by threads. For this folder's own files.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include "engine/base/host/threads.hpp"
#include "engine/base/progress/progress.hpp"

namespace rankscope {

/// Calls work(0) to work(n - 1) on `threads` threads (0: as many as the machine has), each with its own `work` from
/// `make`; reports to `progress`, which may be empty, each part of "`what`" that begins. Rethrows the first exception.
template <class Make>
void on_all_threads(std::size_t n, unsigned threads, const Progress& progress, const std::string& what, Make make) {
  std::atomic<std::size_t> next{0};
  std::mutex failure_mutex;
  std::exception_ptr failure;
  const auto run = [&] {
    try {
      auto work = make();
      for (std::size_t i = next++; i < n; i = next++) {
        if (progress)
          progress(fmt::format("{} {} of {}", what, i + 1, n), static_cast<double>(i) / static_cast<double>(n));
        work(i);
      }
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
      next = n;
    }
  };
  const unsigned requested = threads > 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
  {
    const auto team = start_helpers(requested - 1, run);
    run();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace rankscope
