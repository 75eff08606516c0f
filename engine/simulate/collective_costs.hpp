// What plan.collective makes of a collective's cost.
#pragma once
#include <string_view>

#include "engine/simulate/costs.hpp"

namespace rankscope {

/// Costs::collective_ns of the algorithm of that name over those links (algorithm_ns). Empty for "auto" and "ring",
/// which is what the simulator takes by itself (ring_ns).
std::function<std::int64_t(OpKind kind, std::span<const int> members, std::int64_t payload)> collective_costs(
    std::string_view algorithm, std::function<Link(int from, int to)> link);

}  // namespace rankscope
