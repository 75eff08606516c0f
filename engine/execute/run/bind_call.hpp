// A communication op bound to its buffers: which call of which communicator it is.
#pragma once
#include <functional>

#include "engine/execute/comm/communicator.hpp"
#include "engine/execute/run/arena.hpp"
#include "engine/plan/program/program.hpp"

namespace rankscope {

/// The call of `op` of `program`, on the buffers that it names by the rules of
/// engine/plan/program/communication.hpp. `communicator` is the op's (CommTable::of), and expects the call from now on;
/// it and the arena must outlive the call. Throws std::invalid_argument when the op breaks those rules.
std::function<CommResult()> bind_call(const RankProgram& program, const Op& op, const RankGrid& grid,
                                      const Arena& arena, Communicator& communicator);

/// Which member of its communicator a world rank is.
int index_of(const Communicator& communicator, int rank);

/// How many ranks an op of that rank involves: two for a message.
int group_size(const RankGrid& grid, int rank, const Op& op);

}  // namespace rankscope
