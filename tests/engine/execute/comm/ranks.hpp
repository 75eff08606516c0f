// Runs a body as each rank of a loopback world, in a thread each.
#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "engine/execute/comm/loopback.hpp"

namespace rankscope::test {

/// All ranks 0, …, n-1.
inline std::vector<int> first_ranks(int n) {
  std::vector<int> ranks;
  for (int r = 0; r < n; ++r) ranks.push_back(r);
  return ranks;
}

/// Sets a flag when its scope ends, also by an exception.
class SetAtEnd {
 public:
  explicit SetAtEnd(std::atomic<bool>& flag) : flag_(flag) {}
  ~SetAtEnd() { flag_ = true; }
  SetAtEnd(const SetAtEnd&) = delete;
  SetAtEnd& operator=(const SetAtEnd&) = delete;

 private:
  std::atomic<bool>& flag_;
};

/// Returns each rank's error text, empty where the body returned.
inline std::vector<std::string> run_ranks(int n, const CommOptions& options, const std::function<void(World&)>& body) {
  const auto hub = make_loopback(n, options);
  std::vector<std::string> errors(n);
  std::vector<std::thread> threads;
  for (int r = 0; r < n; ++r)
    threads.emplace_back([&, r] {
      try {
        const auto mine = world(hub, r);
        body(*mine);
      } catch (const std::exception& error) {
        errors[r] = error.what();
        if (errors[r].empty()) errors[r] = "an error without a text";
      }
    });
  for (auto& thread : threads) thread.join();
  return errors;
}

/// The same for a body that returns its wrong results; those of all ranks together.
inline std::vector<std::string> wrong_on_ranks(int n, const CommOptions& options,
                                               const std::function<std::vector<std::string>(World&)>& body) {
  std::vector<std::vector<std::string>> wrong(n);
  const auto errors = run_ranks(n, options, [&](World& mine) { wrong[mine.rank()] = body(mine); });
  std::vector<std::string> all;
  for (int r = 0; r < n; ++r) {
    all.insert(all.end(), wrong[r].begin(), wrong[r].end());
    if (!errors[r].empty()) all.push_back("rank " + std::to_string(r) + " threw: " + errors[r]);
  }
  return all;
}

}  // namespace rankscope::test
