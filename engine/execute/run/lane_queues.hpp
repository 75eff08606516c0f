// The queues of the lanes of a rank's program: on a GPU each lane has its own stream, and the host's work runs on the
// lane's thread. On the CPU all lanes' threads run their ops themselves.
#pragma once
#include <array>
#include <memory>

#include "engine/plan/program/program.hpp"
#include "kernels/device/host.hpp"

namespace rankscope {

class LaneQueues {
 public:
  /// Every lane's own thread: for a host, and for binding ops that are never launched.
  LaneQueues() = default;
  LaneQueues(Device& device, const RankProgram& program) {
    const auto lanes = program.lanes();
    for (std::size_t lane = 0; lane < lane_count; ++lane)
      if (!lanes[lane].empty() && !is_on_host(static_cast<Lane>(lane))) queues_[lane] = device.make_queue();
  }
  Queue& of(Lane lane) {
    const auto& queue = queues_[static_cast<std::size_t>(lane)];
    return queue ? *queue : static_cast<Queue&>(calling_thread_);
  }

 private:
  std::array<std::unique_ptr<Queue>, lane_count> queues_;
  HostQueue calling_thread_;  ///< has no state, so all threads may share it
};

}  // namespace rankscope
