// What a test may ask of the emulated libnccl beside NCCL's own functions.
#pragma once
#include <functional>
#include <vector>

namespace emulated_nccl {

/// A GPU's queue: what is enqueued runs in order, some time later, on a thread of its own. A cudaStream_t that the
/// emulated library is given is one of these, or null for a queue of the communicator's own.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual void enqueue(std::function<void()> work) = 0;
};

}  // namespace emulated_nccl

extern "C" {
/// Everything that was done against NCCL's rules since the last call, a line each; empty when nothing was.
const char* emulated_nccl_misuse();
/// From now on this member of every communicator is gone as if its process had died; -1 for none.
void emulated_nccl_lose(int rank);
/// From now on streams are not emulated_nccl::Stream, but what `enqueue` takes; what is enqueued there waits for its
/// peers, and reads and writes members' memory, in which `touched` lie, within `transfer`.
void emulated_nccl_streams(void (*enqueue)(void* stream, std::function<void()> work),
                           void (*transfer)(const std::vector<const void*>& touched,
                                            const std::function<void()>& work));
}
