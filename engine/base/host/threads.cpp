#include "engine/base/host/threads.hpp"

#include <fmt/format.h>

#include <sys/resource.h>

#include <condition_variable>
#include <mutex>

namespace rankscope {
namespace {

std::string number_or_none(int resource, rlim_t unit, const std::string& words) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  return fmt::format("{}{}", limit.rlim_cur / unit, words);
}

}  // namespace

std::string thread_limits() {
  std::string all = number_or_none(RLIMIT_NPROC, 1, " processes and threads of this user (ulimit -u)");
  if (const std::string space = number_or_none(RLIMIT_AS, 1024, " KiB of address space (ulimit -v)"); !space.empty())
    all += (all.empty() ? "" : ", ") + space;
  return all.empty() ? "" : "; the limits here: " + all;
}

void throw_thread_error(const std::string& what, const std::system_error& error) {
  throw ThreadError("no thread can be made for " + what + ": " + error.code().message() + thread_limits());
}

void check_threads(int count, const std::string& what) {
  std::mutex mutex;
  std::condition_variable over;
  bool ends = false;
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  const auto end = [&] {
    const std::lock_guard lock(mutex);
    ends = true;
    over.notify_all();
  };
  try {
    while (threads.size() < static_cast<std::size_t>(count))
      threads.emplace_back([&] {
        std::unique_lock lock(mutex);
        over.wait(lock, [&] { return ends; });
      });
  } catch (const std::system_error& error) {
    end();
    throw ThreadError(fmt::format("{} needs more threads ({}) than can be made here ({}): {}{}", what, count,
                                  threads.size(), error.code().message(), thread_limits()));
  }
  end();
}

}  // namespace rankscope
