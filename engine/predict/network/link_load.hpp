// The load of every link of a cluster in one step: a plan's messages and collectives on their routes between ranks
// through cards, nodes and leaf switches.
//
// A unit (a device, a card, a node, a leaf) has one uplink that all its devices share (network.hpp). Bytes between two
// ranks pass the uplinks of all units that contain one rank and not the other. A collective sends its transfer
// list, one element per byte of the tensor; "auto" is counted as a ring over its ranks in ascending order: a tree
// would have the same sums, distributed differently.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "engine/plan/mesh/rank_grid.hpp"
#include "engine/plan/program/program.hpp"
#include "engine/predict/network/network.hpp"

namespace rankscope {

/// Bytes from one rank to another in a step.
struct Flow {
  int from = 0, to = 0;
  Purpose purpose = Purpose::none;
  double bytes = 0;
};

/// All data that ranks send in one step, summed by sender, receiver and purpose. Copies to the host are not
/// counted. `collective`: plan.collective.
std::vector<Flow> flows_of(std::span<const RankProgram> programs, const RankGrid& grid,
                           Choice<CollectiveChoice> collective = CollectiveChoice::automatic);

/// The uplink of one unit, in one step.
struct LinkLoad {
  double out = 0, in = 0;  ///< bytes
  std::array<double, purpose_count> out_by_purpose{};
};
/// [level][unit]: units by the first of their devices; those without ranks are omitted.
std::vector<std::vector<LinkLoad>> link_loads(std::span<const NetworkLevel> levels, std::span<const Flow> flows,
                                              int ranks);

/// Share of a step of this many seconds in which the busier direction of an uplink is busy.
double utilisation(const LinkLoad& load, const NetworkLevel& level, double step_seconds);

}  // namespace rankscope
