// What plan.collective makes of a collective's cost.
#pragma once
#include <string_view>

#include "engine/simulate/costs.hpp"

namespace rankscope {

using CollectiveCosts = std::function<std::int64_t(OpKind kind, std::span<const int> members, std::int64_t payload)>;

/// Costs::collective_ns of the algorithm of that name over those links (algorithm_ns). Empty for "auto" and "ring",
/// which is what the simulator takes by itself (ring_ns).
CollectiveCosts collective_costs(std::string_view algorithm, std::function<Link(int from, int to)> link);

/// The same on a cluster whose links are `link`. Where it says how it hangs together, "auto", "ring" and "tree" are the
/// routes of network.hpp, with contention; other algorithms run at the pace of their slowest link.
CollectiveCosts collective_costs(const ClusterSpec& cluster, std::string_view algorithm,
                                 std::function<Link(int from, int to)> link);

}  // namespace rankscope
