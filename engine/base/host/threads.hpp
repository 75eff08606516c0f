// Threads that may not be there to have: a user's limit of processes and threads, or of address space, is reached.
// Whoever needs a thread starts it here, so that a refusal says for what it was and which limits this process has.
#pragma once
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace rankscope {

/// No thread can be made: for what, and what limits them. One line.
struct ThreadError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

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

/// At most `count` threads that each run `work`, which takes its share of a common list: as many as can be made, and
/// perhaps none. The caller works, too.
template <class Work>
std::vector<std::jthread> start_helpers(std::size_t count, const Work& work) {
  std::vector<std::jthread> helpers;
  helpers.reserve(count);
  try {
    while (helpers.size() < count) helpers.emplace_back(work);
  } catch (const std::system_error&) {
    // Slower with fewer, and the same result.
  }
  return helpers;
}

/// Makes so many threads at once and ends them again: for libraries that end the process, or wait for ever, where they
/// get none (ZeroMQ, OpenMP, MPI). Takes some 20 µs a thread. Throws ThreadError.
void check_threads(int count, const std::string& what);

}  // namespace rankscope
