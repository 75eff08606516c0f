// Starting threads where a limit may be reached: the user's number of processes and threads, or the address space.
// All threads are started here, so that an error states the thread's purpose and the limits of this process.
#pragma once
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace rankscope {

/// A thread cannot be started: its purpose and the limits, in one line.
struct ThreadError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// "; the limits here: 24 processes and threads of this user (ulimit -u)"; empty without limits.
std::string thread_limits();

/// "no thread can be made for <what>: …; limits: 24 processes and threads of this user (ulimit -u)".
[[noreturn]] void throw_thread_error(const std::string& what, const std::system_error& error);

/// A thread that runs `work`. `Thread` is std::thread or std::jthread. Throws ThreadError.
template <class Thread = std::thread, class Work>
Thread start_thread(const std::string& what, Work&& work) {
  try {
    return Thread(std::forward<Work>(work));
  } catch (const std::system_error& error) {
    throw_thread_error(what, error);
  }
}

/// At most `count` threads that each run `work`, which fetches items of a common list: as many as can start,
/// possibly none. The caller also works.
template <class Work>
std::vector<std::jthread> start_helpers(std::size_t count, const Work& work) {
  std::vector<std::jthread> helpers;
  helpers.reserve(count);
  try {
    while (helpers.size() < count) helpers.emplace_back(work);
  } catch (const std::system_error&) {
    // Fewer threads are slower, with the same result.
  }
  return helpers;
}

/// Starts this many threads at once and ends them again: a check for libraries that abort or hang if they
/// cannot start threads (ZeroMQ, OpenMP, MPI). Takes about 20 µs per thread. Throws ThreadError.
void check_threads(int count, const std::string& what);

}  // namespace rankscope
