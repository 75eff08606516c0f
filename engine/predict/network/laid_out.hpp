// Times of collectives' transfer lists (engine/plan/collective) on a cluster's links, counted transfer by transfer.
// network.hpp has closed forms of them for plans of thousands of ranks, whose lists are too long. What a test allows
// between the two (tests/engine/predict/simulate/laid_out_test.cpp): 1e-9 for rings, 2 % for a
// hierarchy, 15 % for a tree.
//
// Transfers of a phase share the links on their ways, with those of the groups that do the same beside them: each takes
// as long as the busiest link on its way needs for all that it carries in that phase, plus the way's latency. A member
// begins a phase when its own transfers of the phase before are done, what it sent when the last byte has left, what it
// receives when that has come; nobody waits for the whole group (Transfer). A sender does not wait for its receiver's
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

/// Seconds from when all begin until the last member of lists [0, own) has all its transfers done; the others run
/// beside them and are only felt. Links at `share` of their rates.
double laid_out_seconds(const Wires& wires, const HopLatencies& hops, std::span<const PlacedList> lists,
                        std::size_t own, double share = 1);

/// The groups that do what this one does at the same time: all of the grid's of its kind, itself first, that share a
/// link with it. A group that is no slice of the grid is alone.
std::vector<std::vector<int>> concurrent_groups(const RankGrid& grid, std::span<const int> members, const Wires& wires);

/// One of a ring's edges: seconds of a phase's transfer on its links, and its latency.
struct RingEdge {
  double seconds = 0, latency = 0;
};
/// A ring's phases, of equal transfers: the longest chain of them, in which each follows the one before on the same
/// edge, or with that one's latency on the next. O(edges).
double ring_phases_seconds(std::span<const RingEdge> edges, int phases);

/// One of plan.collective's algorithms among these members, with concurrent_groups, `elements` of one byte.
/// All-reduces, all-gathers and reduce-scatters by ring through ring_phases_seconds, since their phases are identical.
double algorithm_seconds(const Wires& wires, const HopLatencies& hops, OpKind kind, Algorithm algorithm,
                         std::span<const std::vector<int>> groups, std::int64_t elements, double share = 1);

}  // namespace rankscope
