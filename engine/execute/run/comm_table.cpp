#include "engine/execute/run/comm_table.hpp"

#include <algorithm>
#include <numeric>

namespace rankscope {

CommTable::CommTable(const RankProgram& program, const RankGrid& grid, World& world, Choice<CollectiveChoice> algorithm)
    : rank_(program.rank), grid_(grid) {
  for (const Op& op : program.ops)
    if (is_communication(op.id.kind())) communicators_.try_emplace(key_of(op));
  // A std::map is in key order on every rank, so no two ranks wait for each other in different groups.
  for (auto& [key, communicator] : communicators_) communicator = world.group(key.members, key.lane, algorithm);
}

void CommTable::run_on(const RankProgram& program, Device& device, LaneQueues& queues) {
  for (const Op& op : program.ops)  // a message's receiver is on another lane than its communicator
    if (is_communication(op.id.kind())) of(op).run_on(device, queues.of(op.lane()));
}

void CommTable::reserve() {
  for (const auto& [key, communicator] : communicators_) communicator->reserve();
}

CommTable::Key CommTable::key_of(const Op& op) const {
  if (op.peer < 0) return {op.id.lane(), grid_.group_of(rank_, op.group), false};
  if (op.id.fields().purpose == Purpose::server) {
    std::vector<int> members(grid_.workers());
    std::iota(members.begin(), members.end(), 0);
    members.push_back(grid_.is_server(rank_) ? rank_ : op.peer);
    return {op.id.lane(), std::move(members), false};
  }
  const OpId sending = op.id.kind() == OpKind::send ? op.id : counterpart(op.id);
  const int from = op.id.kind() == OpKind::send ? rank_ : op.peer, to = op.id.kind() == OpKind::send ? op.peer : rank_;
  return {sending.lane(), {std::min(from, to), std::max(from, to)}, from > to};
}

std::int64_t CommTable::device_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& [key, communicator] : communicators_) bytes += communicator->device_bytes();
  return bytes;
}

bool CommTable::awaits_late_phases() const {
  return std::ranges::any_of(communicators_, [](const auto& one) { return one.second->awaits_late_phases(); });
}

std::vector<LatePhase> CommTable::late_phases() {
  std::vector<LatePhase> all;
  for (const auto& [key, communicator] : communicators_) {
    const std::vector<LatePhase> some = communicator->late_phases();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

Communicator& CommTable::of(const Op& op) const { return *communicators_.at(key_of(op)); }

}  // namespace rankscope
