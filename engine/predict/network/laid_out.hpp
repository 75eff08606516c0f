// Times of collectives' transfer lists (engine/plan/collective) on a cluster's links, computed transfer by transfer.
// network.hpp has closed forms of them for plans of thousands of ranks, whose lists are too long. Differences that a
// test allows between the two (tests/engine/predict/simulate/laid_out_test.cpp): 1e-9 for rings, 2 % for a
// hierarchy, 15 % for a tree.
//
// Transfers of a phase share the links of their routes, also with those of the other groups: each takes as long as the
// busiest link of its route needs for all its bytes in that phase, plus the route's latency. A member begins a phase
// when its own transfers of the last phase are done: a send when its last byte has left, a receive when its last byte
// has arrived. No member waits for the complete group (Transfer). A sender does not wait for its receiver's
// buffer.
#pragma once
#include <span>
#include <vector>

#include "engine/plan/collective/transfer.hpp"
#include "engine/plan/mesh/rank_grid.hpp"
#include "engine/predict/network/wires.hpp"

namespace rankscope {

/// A list, by phase, whose members are these ranks. It owns neither.
struct PlacedList {
  std::span<const Transfer> transfers;
  std::span<const int> ranks;
  double element_bytes = 1;
};

/// Seconds from the begin of all lists until the last member of lists [0, own) has finished its transfers. The other
/// lists only slow these down. Links have `share` of their rates.
double laid_out_seconds(const Wires& wires, const HopLatencies& hops, std::span<const PlacedList> lists,
                        std::size_t own, double share = 1);

/// The groups that communicate at the same time as this one: itself first, then all groups of its kind in the grid
/// that share a link with it. A group that is not a slice of the grid has no others.
std::vector<std::vector<int>> concurrent_groups(const RankGrid& grid, std::span<const int> members, const Wires& wires);

/// One of a ring's edges: seconds of a phase's transfer on its links, and its latency.
struct RingEdge {
  double seconds = 0, latency = 0;
};
/// A ring's phases, of equal transfers: the longest chain of them, in which each follows the previous one on the same
/// edge, or on the next edge after the previous one's latency. O(edges).
double ring_phases_seconds(std::span<const RingEdge> edges, int phases);

/// One of plan.collective's algorithms among these members, with concurrent_groups, `elements` of one byte.
/// All-reduces, all-gathers and reduce-scatters by ring through ring_phases_seconds, since their phases are identical.
double algorithm_seconds(const Wires& wires, const HopLatencies& hops, OpKind kind, Algorithm algorithm,
                         std::span<const std::vector<int>> groups, std::int64_t elements, double share = 1);

}  // namespace rankscope
