// Ranks of an nccl world in one process: loopback connects them, and the library is emulated.
#pragma once
#include "engine/execute/comm/nccl.hpp"
#include "tests/engine/execute/comm/ranks.hpp"
#include "tests/places.hpp"

namespace rankscope::test {

inline NcclOptions emulated() { return {program("librankscope_emulated_nccl.so")}; }

inline std::vector<std::string> run_nccl_ranks(int n, const CommOptions& options,
                                               const std::function<void(World&)>& body) {
  const auto hub = make_loopback(n, options);
  std::vector<std::string> errors(static_cast<std::size_t>(n));
  std::vector<std::thread> threads;
  for (int r = 0; r < n; ++r)
    threads.emplace_back([&, r] {
      try {
        const auto mine = nccl_world(world(hub, r), options, emulated());
        body(*mine);
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(r)] = error.what();
      }
    });
  for (auto& thread : threads) thread.join();
  return errors;
}

}  // namespace rankscope::test
