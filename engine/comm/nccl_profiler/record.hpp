// What the plug-in tells the process that it is loaded into. Plain C structures: the two meet by dlsym.
#pragma once
#include <cstdint>

namespace rankscope::comm {

enum class NcclRecordKind : std::int32_t {
  channel = 0,  ///< a channel's part of the kernel, on the device, from its first instruction to its last
  send = 1,     ///< a step of a channel's transfer over the network, by the proxy thread
  receive = 2,
};

struct NcclRecord {
  std::uint64_t work = 0;  ///< which of the communicator's collectives and messages, in the order they were enqueued
  NcclRecordKind kind = NcclRecordKind::channel;
  std::int32_t channel = 0;
  std::int32_t peer = -1;                 ///< member of the communicator; -1 of a channel
  std::int32_t step = 0;                  ///< of a transfer
  std::int64_t bytes = 0;                 ///< of a transfer; 0 where NCCL does not say
  std::int64_t begin_ns = 0, end_ns = 0;  ///< the host's monotonic clock
};

/// Moves up to `most` records of the communicator with that name to `records`, the oldest first, and returns how many.
/// `lost`, if not null, counts those that found no room since the last call.
using TakeNcclRecords = int(const char* communicator, NcclRecord* records, int most, std::int64_t* lost);
inline constexpr const char* take_nccl_records = "rankscope_take_nccl_records";

}  // namespace rankscope::comm
