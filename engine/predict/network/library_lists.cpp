#include "engine/predict/network/library_lists.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>
#include <stdexcept>

#include "engine/plan/collective/algorithms.hpp"

namespace rankscope {
namespace {

using Ranks = std::vector<int>;
constexpr double infinite = std::numeric_limits<double>::infinity();

/// Split where the unit of this number of devices changes.
std::vector<Ranks> by_unit(std::span<const int> ranks, int devices) {
  std::vector<Ranks> units;
  for (const int rank : ranks) {
    if (units.empty() || units.back().back() / devices != rank / devices) units.emplace_back();
    units.back().push_back(rank);
  }
  return units;
}

/// The ring that leaves the node after its device `turn` - 1: cards are rotated, and the devices of each.
Ranks turned(const Ranks& node, int devices_per_card, int turn) {
  std::vector<Ranks> cards = by_unit(node, devices_per_card);
  const auto on_a_card = static_cast<int>(cards.front().size());
  const auto count = static_cast<int>(cards.size());
  std::rotate(cards.begin(), cards.begin() + turn / on_a_card % count, cards.end());
  Ranks order;
  for (Ranks& card : cards) {
    std::rotate(card.begin(), card.begin() + turn % on_a_card % static_cast<int>(card.size()), card.end());
    order.insert(order.end(), card.begin(), card.end());
  }
  return order;
}

int port_of(const ClusterSpec& cluster, int rank) {
  return rank % cluster.devices_per_node * std::min(cluster.rails, cluster.devices_per_node) / cluster.devices_per_node;
}

/// The storage to which PlacedLists point.
struct Lists {
  std::vector<std::vector<Transfer>> transfers;
  std::vector<Ranks> ranks;
  std::vector<double> element_bytes;

  void add(std::vector<Transfer> list, Ranks members, double bytes) {
    transfers.push_back(std::move(list));
    ranks.push_back(std::move(members));
    element_bytes.push_back(bytes);
  }
  std::vector<PlacedList> placed() const {
    std::vector<PlacedList> lists;
    for (std::size_t i = 0; i < ranks.size(); ++i) lists.push_back({transfers[i], ranks[i], element_bytes[i]});
    return lists;
  }
};

/// Numbers of chunks of a tree's part. Short tensors need few, because each chunk costs its hops. Long tensors need
/// many, because the tree fills and drains with one chunk. A library chooses a suitable number.
constexpr int chunk_counts[] = {1, 8, 64};

/// The double tree over the nodes in one ring's order, with chains within them.
std::vector<std::vector<Transfer>> double_tree(const ClusterSpec& cluster, const Ranks& order, int chunks) {
  const auto nodes = by_unit(order, cluster.devices_per_node);
  std::vector<std::vector<Transfer>> lists;
  for (const bool mirrored : {false, true}) {
    const std::vector<int> over = in_order_tree(static_cast<int>(nodes.size()), mirrored);
    std::vector<int> heads, parents;
    for (const Ranks& node : nodes) {
      heads.push_back(static_cast<int>(parents.size()));
      for (std::size_t i = 0; i < node.size(); ++i) parents.push_back(static_cast<int>(parents.size()) - 1);
    }
    for (std::size_t node = 0; node < nodes.size(); ++node)
      parents[heads[node]] = over[node] < 0 ? -1 : heads[over[node]];
    lists.push_back(tree_pipeline(parents, chunks, chunks));
  }
  return lists;
}

}  // namespace

std::vector<std::vector<int>> rings_of(const ClusterSpec& cluster, std::span<const int> members, int place) {
  const std::vector<Ranks> nodes = by_unit(members, cluster.devices_per_node);
  std::size_t count = nodes.front().size();
  for (const Ranks& node : nodes) count = std::min(count, node.size());
  const bool few = cluster.ring_ports > 0 && nodes.size() > 1;
  std::vector<Ranks> rings;
  std::set<int> ports;
  for (std::size_t i = 0; i < count; ++i) {
    const int turn = static_cast<int>(i + (few ? static_cast<std::size_t>(place) : 0)) % static_cast<int>(count);
    Ranks ring;
    for (const Ranks& node : nodes)
      for (const int rank : turned(node, std::max(1, cluster.devices_per_card), turn)) ring.push_back(rank);
    if (few && static_cast<int>(ports.size()) == cluster.ring_ports) break;
    const auto last_of_first_node = ring[nodes.front().size() - 1];
    if (few && !ports.insert(port_of(cluster, last_of_first_node)).second) continue;
    rings.push_back(std::move(ring));
  }
  return rings;
}

std::vector<int> in_order_tree(int n, bool mirrored) {
  std::vector<int> parents(static_cast<std::size_t>(n), -1);
  for (int i = 1; i < n; ++i) {
    const int bit = i & -i, above = (i ^ bit) | (bit << 1);
    parents[i] = above < n ? above : i ^ bit;
  }
  if (!mirrored) return parents;
  // Even numbers have children, odd ones none: an even count is reversed, an odd one shifted by one.
  const auto other = [&](int i) { return n % 2 == 0 ? n - 1 - i : (i + 1) % n; };
  std::vector<int> mirror(parents.size(), -1);
  for (int i = 0; i < n; ++i) {
    const int parent = parents[i];
    mirror[other(i)] = parent < 0 ? -1 : other(parent);
  }
  return mirror;
}

std::vector<Transfer> tree_pipeline(std::span<const int> parents, std::int64_t elements, int chunks) {
  const auto n = static_cast<int>(parents.size());
  std::vector<int> depth(parents.size(), 0), height(parents.size(), 0);
  for (int member = 0; member < n; ++member) {
    int at = member, steps = 0;
    for (; parents[at] >= 0; at = parents[at]) {
      int& reached = height[at];
      reached = std::max(reached, steps++);
    }
    height[at] = std::max(height[at], steps);
    depth[member] = steps;
  }
  const int top = *std::max_element(height.begin(), height.end());
  std::vector<Transfer> list;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const ElementRange range = chunk_range(elements, chunks, chunk);
    if (range.size() == 0) continue;
    for (int member = 0; member < n; ++member) {
      const int parent = parents[member];
      if (parent < 0) continue;
      const int up = chunk + height[member];
      const int down = chunk + top + depth[member] - 1;
      list.push_back({up, chunk, member, parent, range.begin, range.begin, range.size(), true});
      list.push_back({down, chunk, parent, member, range.begin, range.begin, range.size(), false});
    }
  }
  std::stable_sort(list.begin(), list.end(), [](const Transfer& a, const Transfer& b) { return a.phase < b.phase; });
  return list;
}

double listed_seconds(const ClusterSpec& cluster, const RankGrid& grid, Route route, OpKind kind,
                      std::span<const int> members, double bytes) {
  const auto n = static_cast<int>(members.size());
  if (n < 2) return 0;
  const Wires wires(cluster, std::max(grid.size(), members.back() + 1));
  const auto groups = concurrent_groups(grid, members, wires);
  const bool sum = kind == OpKind::all_reduce;
  const auto fastest = [&](const Lists& lists, std::size_t own, double fill) {
    double best = infinite;
    for (const Protocol& protocol : protocols_of(cluster))
      best = std::min(
          best, laid_out_seconds(wires, protocol.hops, lists.placed(), own, protocol.share) + fill / protocol.share);
    return best;
  };
  if (route == Route::hierarchical && sum) {
    const int per_node = static_cast<int>(by_unit(members, cluster.devices_per_node).front().size());
    Lists lists;
    for (const Ranks& group : groups) lists.add(hierarchical_all_reduce(n, per_node, n), group, bytes / n);
    return 3 * cluster.collective_latency_s + fastest(lists, 1, 0);
  }
  const double fill = (sum ? 1 : 0.5) * cluster.ring_fill * bytes / n / ring_bandwidth(cluster, members);
  std::vector<std::vector<Ranks>> rings;  // [group]; earlier ones on its nodes have lower first ranks
  for (const Ranks& group : groups) rings.push_back(rings_of(cluster, group, group.front() % cluster.devices_per_node));
  if (route == Route::ring && (sum || kind == OpKind::all_gather || kind == OpKind::reduce_scatter)) {
    Lists lists;
    for (const auto& of_group : rings)
      for (const Ranks& ring : of_group)
        lists.add(transfers_of(kind, Algorithm::ring, n, n), ring, bytes / static_cast<double>(of_group.size()) / n);
    return cluster.collective_latency_s + fastest(lists, rings.front().size(), fill);
  }
  if (route != Route::tree || !sum)
    throw std::invalid_argument(std::string(name_of(kind)) + " has no list on this route");
  double best = infinite;
  for (const int chunks : chunk_counts) {
    Lists lists;
    for (const auto& of_group : rings)
      for (const Ranks& ring : of_group)
        for (auto& list : double_tree(cluster, ring, chunks))
          lists.add(std::move(list), ring, bytes / static_cast<double>(2 * of_group.size()) / chunks);
    best = std::min(best, fastest(lists, 2 * rings.front().size(), fill));
  }
  return cluster.collective_latency_s + best;
}

}  // namespace rankscope
