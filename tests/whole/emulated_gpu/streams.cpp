// What the emulated libnccl needs of a program on emulated GPUs: its streams, operations on devices' memory, and
// whether code is loaded while NCCL's kernels wait.
#include <cstdlib>
#include <functional>
#include <vector>

#include "tests/kernels/cuda/emulated/runtime.hpp"

extern "C" {
void emulated_gpu_enqueue(void* stream, std::function<void()> work);
void emulated_gpu_transfer(const std::vector<const void*>& touched, const std::function<void()>& work);
bool emulated_gpu_loads_code_ahead();

bool emulated_gpu_loads_code_ahead() { return emulated::loads_code_ahead(); }
void emulated_gpu_enqueue(void* stream, std::function<void()> work) {
  if (emulated::enqueue_waiting(stream, std::move(work)) != cudaSuccess) std::abort();
}
void emulated_gpu_transfer(const std::vector<const void*>& touched, const std::function<void()>& work) {
  emulated::transfer(touched, work);
}
}
