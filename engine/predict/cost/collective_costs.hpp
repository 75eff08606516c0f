// The cost of a collective under plan.collective.
#pragma once
#include <string_view>

#include "engine/plan/mesh/rank_grid.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/network/link.hpp"

namespace rankscope {

using CollectiveCosts = std::function<std::int64_t(OpKind kind, std::span<const int> members, std::int64_t payload)>;

/// Costs::collective_ns of that algorithm over those links (algorithm_ns). Empty for "auto" and "ring",
/// which the simulator uses by default (ring_ns).
CollectiveCosts collective_costs(Choice<CollectiveChoice> algorithm, std::function<Link(int from, int to)> link);

/// The same on a cluster whose links are `link`. With software.collectives = "library", "ring", "tree" and "auto" (the
/// faster of the two) are the library's routes (network.hpp). All else is a transfer list, and "auto" the ring's:
/// within a node (or card), where all links are equal, phase by phase (algorithm_ns); else laid out on the links,
/// beside those of the grid's other groups of that kind (laid_out.hpp). May be called by several threads.
CollectiveCosts collective_costs(const ClusterSpec& cluster, const RankGrid& grid, Choice<CollectiveChoice> algorithm,
                                 std::function<Link(int from, int to)> link);

}  // namespace rankscope
