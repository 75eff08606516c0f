// A dry run under rendezvous: finds deadlocks, and messages without a counterpart, before anything starts.
//
// The layout of engine/predict also finds deadlocks of a given order. It is on a higher floor, needs
// costs, and rejects a graph with an op without counterpart, for which the dry run names the waiting rank. Both
// find the same deadlocks, as tests/engine/predict/simulate checks.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/program/program.hpp"

namespace rankscope {

/// Runs the ranks' programs without time: a send completes only together with its receive, a collective only when every
/// member has arrived, a lane runs in order. nullopt if all ops complete (for two consecutive steps, since steps are
/// no barriers); else one line of less than 150 bytes that states which rank waits on which lane, at which op, for
/// which rank. Operands of communications that break the rules, or on which members disagree, are found first
/// (communication.hpp).
std::optional<std::string> find_deadlock(const std::vector<RankProgram>& programs, const RankGrid& grid);

}  // namespace rankscope
