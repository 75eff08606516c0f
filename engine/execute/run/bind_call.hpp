// Binds a communication op to its buffers, as a call of a communicator.
#pragma once
#include <functional>

#include "engine/execute/comm/communicator.hpp"
#include "engine/execute/run/arena.hpp"
#include "engine/plan/program/program.hpp"

namespace rankscope {

/// The call of `op` of `program`, on its buffers by the rules of engine/plan/program/communication.hpp. `communicator`
/// is the op's (CommTable::of); this announces the call to it (expect). It and the arena must outlive the call. Throws
/// std::invalid_argument if the op violates those rules.
std::function<CommResult()> bind_call(const RankProgram& program, const Op& op, const RankGrid& grid,
                                      const Arena& arena, Communicator& communicator);

/// The index of a world rank among its communicator's members.
int index_of(const Communicator& communicator, int rank);

/// The number of ranks that an op of that rank involves: two for a message.
int group_size(const RankGrid& grid, int rank, const Op& op);

}  // namespace rankscope
