#include "engine/predict/cost/collective_costs.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "engine/predict/network/laid_out.hpp"
#include "engine/predict/network/link.hpp"
#include "engine/predict/network/network.hpp"

namespace rankscope {

CollectiveCosts collective_costs(Choice<CollectiveChoice> algorithm, std::function<Link(int, int)> link) {
  const auto named = algorithm_of(algorithm);
  if (!named || *named == Algorithm::ring) return {};
  return [named = *named, link = std::move(link)](OpKind kind, std::span<const int> members, std::int64_t payload) {
    return algorithm_ns(kind, named, members, payload, link);
  };
}

namespace {

/// A named algorithm's seconds on the links. Steps contain the same collective many times: each is laid out once.
class LaidOut {
 public:
  LaidOut(const ClusterSpec& cluster, const RankGrid& grid, Algorithm algorithm)
      : cluster_(cluster), grid_(grid), wires_(cluster, grid.size()), algorithm_(algorithm) {}

  std::int64_t ns(OpKind kind, std::span<const int> members, std::int64_t elements) {
    const Key key{kind, elements, {members.begin(), members.end()}};
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = known_.find(key); known != known_.end()) return known->second;
    }
    const auto groups = concurrent_groups(grid_, members, wires_);
    double best = std::numeric_limits<double>::infinity();
    for (const Protocol& protocol : protocols_of(cluster_))
      best =
          std::min(best, algorithm_seconds(wires_, protocol.hops, kind, algorithm_, groups, elements, protocol.share));
    const std::int64_t ns = std::llround((cluster_.collective_latency_s + best) * 1e9);
    const std::lock_guard lock(mutex_);
    known_.emplace(key, ns);
    return ns;
  }

 private:
  using Key = std::tuple<OpKind, std::int64_t, std::vector<int>>;
  ClusterSpec cluster_;
  RankGrid grid_;
  Wires wires_;
  Algorithm algorithm_;
  std::mutex mutex_;
  std::map<Key, std::int64_t> known_;
};

}  // namespace

CollectiveCosts collective_costs(const ClusterSpec& cluster, const RankGrid& grid, Choice<CollectiveChoice> algorithm,
                                 std::function<Link(int, int)> link) {
  const auto whole = [](OpKind kind, std::span<const int> members, std::int64_t payload) {
    const bool part = kind == OpKind::all_gather || kind == OpKind::gather;
    return payload * (part ? static_cast<std::int64_t>(members.size()) : 1);
  };
  const auto route = library_route(algorithm);
  if (cluster.software.collectives == Collectives::library && route)
    return [whole, cluster, route = *route](OpKind kind, std::span<const int> members,
                                            std::int64_t payload) -> std::int64_t {
      const auto bytes = static_cast<double>(whole(kind, members, payload));
      return std::llround(collective_seconds(cluster, route, kind, members, bytes) * 1e9);
    };
  const Algorithm list = algorithm_of(algorithm).value_or(Algorithm::ring);
  return [whole, link = std::move(link),
          equal = cluster.devices_per_card > 1 ? cluster.devices_per_card : cluster.devices_per_node, list,
          call_ns = std::llround(cluster.collective_latency_s * 1e9),
          laid_out = std::make_shared<LaidOut>(cluster, grid, list)](OpKind kind, std::span<const int> members,
                                                                     std::int64_t payload) -> std::int64_t {
    const bool has_equal_links = members.front() / equal == members.back() / equal;
    if (!has_equal_links) return laid_out->ns(kind, members, whole(kind, members, payload));
    return call_ns + (list == Algorithm::ring ? ring_ns(kind, members, payload, link)
                                              : algorithm_ns(kind, list, members, payload, link));
  };
}

}  // namespace rankscope
