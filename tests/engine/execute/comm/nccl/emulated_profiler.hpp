// NCCL's side of its profiler plug-in interface, as the library of version 2.28 drives it (src/plugin/profiler.cc,
// src/transport/profiler.cc): the plug-in is the program's own where NCCL_PROFILER_PLUGIN is STATIC_PLUGIN; a work's
// event begins and ends while it is enqueued; the proxy thread tells of what happens inside later, channel by channel,
// in the order in which it finds out. For the emulated libnccl's own files.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/engine/execute/comm/nccl/emulated.hpp"

namespace emulated_nccl {

/// A collective or message.
struct ProfiledWork {
  struct Channel {
    void* event = nullptr;
    std::int64_t begin_ns = 0, told_ns = 0;
    std::int64_t late_ns = 0;  ///< its begin was told at most so long after it
  };
  std::string function;  ///< as NCCL calls it
  int peer = -1;         ///< of a message
  std::size_t bytes = 0;
  std::uint64_t number = 0;  ///< on its communicator
  void* event = nullptr;
  std::int64_t begin_ns = 0;
  std::shared_ptr<std::vector<Channel>> channels{};
};

/// Of one communicator.
class Profiler {
 public:
  /// Null where there is no plug-in.
  static std::shared_ptr<Profiler> open(const char* communicator, std::uint64_t id, int ranks, int rank);
  virtual ~Profiler() = default;
  virtual void enqueued(ProfiledWork& work) = 0;
  /// The device comes to it, and is done with it.
  virtual void began(ProfiledWork& work) = 0;
  virtual void ended(const ProfiledWork& work) = 0;
};

std::int64_t host_ns();

}  // namespace emulated_nccl
