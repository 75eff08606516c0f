#include "engine/simulate/collective_costs.hpp"

#include <cmath>
#include <utility>

#include "engine/simulate/network.hpp"

namespace rankscope {

CollectiveCosts collective_costs(std::string_view algorithm, std::function<Link(int, int)> link) {
  const auto named = algorithm_named(algorithm);
  if (!named || *named == Algorithm::ring) return {};
  return [named = *named, link = std::move(link)](OpKind kind, std::span<const int> members, std::int64_t payload) {
    return algorithm_ns(kind, named, members, payload, link);
  };
}

CollectiveCosts collective_costs(const ClusterSpec& cluster, std::string_view algorithm,
                                 std::function<Link(int, int)> link) {
  const auto named = algorithm_named(algorithm);
  const bool ring = named == Algorithm::ring, tree = named == Algorithm::tree;
  if (!has_topology(cluster) || (named && !ring && !tree)) return collective_costs(algorithm, std::move(link));
  const Route route = ring ? Route::ring : tree ? Route::tree : Route::best;
  return [cluster, route](OpKind kind, std::span<const int> members, std::int64_t payload) -> std::int64_t {
    const bool part = kind == OpKind::all_gather || kind == OpKind::gather;
    const double bytes = static_cast<double>(payload) * (part ? static_cast<double>(members.size()) : 1.0);
    return std::llround(collective_seconds(cluster, route, kind, members, bytes) * 1e9);
  };
}

}  // namespace rankscope
