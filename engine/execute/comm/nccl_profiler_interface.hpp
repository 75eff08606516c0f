// NCCL's profiler plug-in interface, versions 4 (NCCL 2.27) and 5 (2.28): the parts used here. The two have the same
// layout except for the type's width, and unions with the same beginning. (NCCL, src/include/plugin/profiler, whose
// names of events follow ours.)
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace rankscope::comm::profiler {

enum EventType : std::uint64_t {
  collective = 1 << 1,      ///< Coll
  message = 1 << 2,         ///< P2p
  proxy_op = 1 << 3,        ///< ProxyOp: one channel's transfers to or from one peer over the network
  proxy_step = 1 << 4,      ///< ProxyStep: one of them
  kernel_channel = 1 << 6,  ///< KernelCh: one channel's part of the kernel
};

enum State : int {
  step_send_gpu_wait = 8,
  step_send_wait = 9,
  step_receive_wait = 10,
  step_receive_flush_wait = 11,
  step_receive_gpu_wait = 12,
  step_send_peer_wait = 20,
  kernel_channel_stop = 22,
};

struct CollectivePart {
  std::uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t channels, warps;
  const char *algorithm, *protocol;
  void* parent_group;  ///< of version 5
};
struct MessagePart {
  const char* function;  ///< "Send" or "Recv"
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t channels;
  void* parent_group;  ///< of version 5
};
struct ProxyOpPart {
  pid_t pid;  ///< that began it: its parent is an address in that process
  std::uint8_t channel;
  int peer, steps, chunk_bytes, is_send;
};
struct ProxyStepPart {
  int step;
};
struct KernelChannelPart {
  std::uint8_t channel;
  std::uint64_t timer_ns;  ///< the device's globaltimer
};

template <class Type>
struct Descriptor {
  Type type;
  void* parent;
  int rank;
  union {
    CollectivePart collective;
    MessagePart message;
    ProxyOpPart proxy_op;
    ProxyStepPart proxy_step;
    KernelChannelPart kernel_channel;
  };
};
using Descriptor4 = Descriptor<std::uint8_t>;
using Descriptor5 = Descriptor<std::uint64_t>;

union StateArguments {
  struct {
    std::size_t bytes;
  } proxy_step;
  struct {
    std::uint64_t timer_ns;
  } kernel_channel;
};

using Log = void (*)(int level, unsigned long flags, const char* file, int line, const char* format, ...);

struct Plugin4 {
  const char* name;
  int (*init)(void** context, int* mask, const char* name, std::uint64_t hash, int nodes, int ranks, int rank, Log log);
  int (*start)(void* context, void** event, Descriptor4* descriptor);
  int (*stop)(void* event);
  int (*record)(void* event, int state, StateArguments* arguments);
  int (*finalize)(void* context);
};
struct Plugin5 {
  const char* name;
  int (*init)(void** context, std::uint64_t id, int* mask, const char* name, int nodes, int ranks, int rank, Log log);
  int (*start)(void* context, void** event, Descriptor5* descriptor);
  int (*stop)(void* event);
  int (*record)(void* event, int state, StateArguments* arguments);
  int (*finalize)(void* context);
};

}  // namespace rankscope::comm::profiler
