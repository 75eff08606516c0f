// What the emulated libnccl notes, and what a test has told it. For its own files.
#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace emulated_nccl {

/// Something was done against NCCL's rules. Where the environment's EMULATED_NCCL_NOTES names a file it is written
/// there, too, for tests of whole programs.
void note(const std::string& what);

struct State {
  std::atomic<int> lost_rank{-1};  ///< gone as if its process had died
  void (*enqueue)(void* stream, std::function<void()> work) = nullptr;
  void (*transfer)(const std::vector<const void*>& touched, const std::function<void()>& work) = nullptr;
  bool loads_code_ahead = true;  ///< the program's GPUs, as far as it says so
};
/// NCCL's interface has no place for it but this.
State& state();

}  // namespace emulated_nccl
