// The eight collectives among threads that can read each other's buffers while all of them are in the call: each member
// does its share of the copying in parallel, and of the adding, in member order.
#pragma once
#include <span>
#include <vector>

#include "engine/execute/comm/group.hpp"

namespace rankscope::comm {

/// Bytes copied from one member's memory to the others, counted for that member.
struct MovedBytes {
  std::vector<std::int64_t> sent;  ///< by receiving member; 0 for itself
  std::int64_t received = 0;
};

/// Does member `index`'s share, on its queue. All members' calls agree, and none returns before all shares are done. A
/// sum is a direct reduce-scatter and all-gather: member i adds up chunk i (chunk_range) of all members.
MovedBytes do_share(std::span<const CollectiveCall> calls, int index, Queue& queue);

}  // namespace rankscope::comm
