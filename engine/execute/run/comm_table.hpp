// The communicators of one rank's program: one for each lane and group of ranks that its ops need.
#pragma once
#include <compare>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/execute/comm/communicator.hpp"
#include "engine/execute/run/lane_queues.hpp"
#include "engine/plan/program/program.hpp"

namespace rankscope {

class CommTable {
 public:
  /// Collective over all ranks of the program's groups: every rank creates its communicators in one global order.
  CommTable(const RankProgram& program, const RankGrid& grid, World& world, Choice<CollectiveChoice> algorithm);
  /// Each runs on the queue of the lane that uses it. Before the first call.
  void run_on(const RankProgram& program, Device& device, LaneQueues& queues);
  /// Reserves memory for the bound calls (bind_call). Before the first call.
  void reserve();

  Communicator& of(const Op& op) const;
  /// Of all of them.
  std::int64_t device_bytes() const;
  bool awaits_late_phases() const;
  std::vector<LatePhase> late_phases();

 private:
  /// A message's two lanes (send here, receive there) share the communicator of the send lane; `descending`
  /// distinguishes the two directions between the same pair of ranks.
  struct Key {
    Lane lane = Lane::compute;
    std::vector<int> members;
    bool descending = false;
    auto operator<=>(const Key&) const = default;
  };
  Key key_of(const Op& op) const;

  int rank_;
  RankGrid grid_;
  std::map<Key, std::unique_ptr<Communicator>> communicators_;
};

}  // namespace rankscope
