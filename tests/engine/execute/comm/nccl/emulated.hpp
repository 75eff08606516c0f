// What a test may ask of the emulated libnccl beside NCCL's own functions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace emulated_nccl {

/// A GPU's queue: what is enqueued runs in order, some time later, on a thread of its own. A cudaStream_t that the
/// emulated library is given is one of these, or null for a queue of the communicator's own.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual void enqueue(std::function<void()> work) = 0;
};

/// How a profiler plug-in is told, by communicators that are made from now on.
struct ProfilerBehaviour {
  int version = 5;       ///< of the interface: 4 or 5
  int channels = 2;      ///< of each work
  bool network = false;  ///< members are on different hosts: there are transfers to tell of, two a channel and peer
  unsigned latest_us = 2000;      ///< so late at most after it happened
  unsigned unreported_every = 0;  ///< of so many works on a communicator the last one is not told; 0: all are
};

/// What a plug-in was told of and wanted to know, as it was.
struct ReportedEvent {
  std::string function;    ///< "AllReduce", "Send", …
  int rank = 0;            ///< in the communicator
  std::uint64_t work = 0;  ///< its number on the communicator
  int channel = 0;
  int step = -1;  ///< of a transfer; -1: the channel's part of the kernel
  int peer = -1;
  bool is_send = false;
  std::size_t bytes = 0;
  std::int64_t begin_ns = 0, end_ns = 0;  ///< on the host's clock
  /// Of what a device's timer stamps: when its begin or its end was told, whichever was sooner, at most so long after
  /// it.
  std::int64_t late_ns = 0;
};

}  // namespace emulated_nccl

extern "C" {
void emulated_nccl_behave(const emulated_nccl::ProfilerBehaviour& behaviour);
/// Since the last time.
void emulated_nccl_reported(std::vector<emulated_nccl::ReportedEvent>& reported);
/// True if every event so far has been reported to the plug-ins, and emulated_nccl_reported() contains it.
bool emulated_nccl_has_reported_all();
/// True: events inside collectives are held back from now on. False: all held events are reported at once.
void emulated_nccl_hold_reports(bool hold);
/// Everything that was done against NCCL's rules since the last call, a line each; empty when nothing was.
const char* emulated_nccl_misuse();
/// From now on this member of every communicator is gone as if its process had died; -1 for none.
void emulated_nccl_lose(int rank);
/// From now on streams are not emulated_nccl::Stream, but what `enqueue` takes; what is enqueued there waits for its
/// peers, and reads and writes the member's memory, in which `touched` lie, within `transfer`. A program that shows
/// functions emulated_gpu_enqueue and emulated_gpu_transfer need not say so.
void emulated_nccl_streams(void (*enqueue)(void* stream, std::function<void()> work),
                           void (*transfer)(const std::vector<const void*>& touched,
                                            const std::function<void()>& work));
}
