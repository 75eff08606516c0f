#include "engine/predict/network/network.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "engine/predict/network/laid_out.hpp"
#include "engine/predict/network/link.hpp"

namespace rankscope {
namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();

int rails_of(const ClusterSpec& cluster) { return cluster.rails > 0 ? cluster.rails : cluster.devices_per_node; }

/// From the device outwards, as far as the cluster is described. `inter_share`: the share of its rate that a node's
/// port reaches.
std::vector<NetworkLevel> levels_of(const ClusterSpec& c, double inter_share) {
  const double intra = c.intra_bandwidth * c.intra_efficiency;
  std::vector<NetworkLevel> levels;
  if (c.devices_per_card > 1) {
    levels.push_back(
        {NetworkUnit::device, 1, positive_figure(c.card_bandwidth, "card_bandwidth", c) * c.intra_efficiency});
    levels.push_back({NetworkUnit::card, c.devices_per_card, intra * c.devices_per_card});
  } else if (c.intra_bandwidth > 0) {
    levels.push_back({NetworkUnit::device, 1, intra});
  }
  if (!(c.inter_bandwidth > 0)) return levels;
  const double node = rails_of(c) * c.inter_bandwidth * inter_share;
  levels.push_back({NetworkUnit::node, c.devices_per_node, node});
  if (c.nodes_per_switch > 0)
    levels.push_back({NetworkUnit::leaf_switch, c.devices_per_node * c.nodes_per_switch,
                      node * c.nodes_per_switch / c.oversubscription});
  return levels;
}

double way_out(const ClusterSpec& cluster, const NetworkLevel& level, int unit) {
  const bool slow = level.unit == NetworkUnit::node && unit == cluster.slow_node;
  return slow ? level.way_out / cluster.slow_node_factor : level.way_out;
}

/// Calls use(members, unit) for every unit of this number of devices that contains members; ranks are ascending.
template <class Use>
void for_each_unit(std::span<const int> members, int devices, Use use) {
  for (std::size_t begin = 0, end = 0; begin < members.size(); begin = end) {
    while (end < members.size() && members[end] / devices == members[begin] / devices) ++end;
    use(static_cast<int>(end - begin), members[begin] / devices);
  }
}

bool within_one(std::span<const int> members, int devices) {
  return members.front() / devices == members.back() / devices;
}

/// The links between these members must be described.
void check_links(const ClusterSpec& cluster, std::span<const int> members) {
  if (!within_one(members, cluster.devices_per_node))
    positive_figure(cluster.inter_bandwidth, "inter_bandwidth", cluster);
  for (std::size_t i = 0; i + 1 < members.size(); ++i)
    if (members[i] / cluster.devices_per_node == members[i + 1] / cluster.devices_per_node) {
      positive_figure(cluster.intra_bandwidth, "intra_bandwidth", cluster);
      return;
    }
}

struct Placement {
  int nodes = 0, least = 0, greatest = 0;  ///< nodes with members, and members on one
};

Placement placement_of(std::span<const int> members, int devices) {
  Placement placement;
  for_each_unit(members, devices, [&](int count, int) {
    placement.least = placement.nodes == 0 ? count : std::min(placement.least, count);
    placement.greatest = std::max(placement.greatest, count);
    ++placement.nodes;
  });
  return placement;
}

/// A group's share of such a unit's uplink, with this number of members on the unit.
double share_of(const ClusterSpec& cluster, const NetworkLevel& level, int members) {
  const double share = static_cast<double>(members) / level.devices;
  return level.unit == NetworkUnit::node && cluster.ring_ports > 0
             ? std::min(share, static_cast<double>(cluster.ring_ports) / rails_of(cluster))
             : share;
}

/// Bytes/s of a ring that reaches this share of the rate of a node's ports.
double slowest_way_out(const ClusterSpec& cluster, std::span<const int> members, double inter_share) {
  if (members.size() < 2) return no_limit;
  check_links(cluster, members);
  double bandwidth = no_limit;
  for (const NetworkLevel& level : levels_of(cluster, inter_share)) {
    if (level.devices > 1 && within_one(members, level.devices)) break;
    for_each_unit(members, level.devices, [&](int count, int unit) {
      bandwidth = std::min(bandwidth, way_out(cluster, level, unit) * share_of(cluster, level, count));
    });
  }
  return bandwidth;
}

/// An edge of a ring before its bytes and protocol are known.
struct Edge {
  double rate = no_limit;  ///< bytes/s of one phase's transfer, with concurrent ones
  bool leaves_card = true, leaves_node = false;
};

/// The properties of a group that determine its collectives' time.
struct Ring {
  Placement placement;
  double bandwidth = 0;
  std::vector<Edge> edges;
};

/// As many rings run at the same time as the node with the fewest members allows, so that every ring has a port there.
std::vector<Edge> edges_of(const ClusterSpec& cluster, std::span<const int> members) {
  std::vector<Edge> edges(members.size());
  for (const NetworkLevel& level : levels_of(cluster, cluster.inter_efficiency)) {
    if (level.devices > 1 && within_one(members, level.devices)) break;
    const Placement placement = placement_of(members, level.devices);
    // All members below a leaf switch share its uplinks.
    const bool is_leaf = level.unit == NetworkUnit::leaf_switch;
    const double share = share_of(cluster, level, is_leaf ? placement.greatest : placement.least);
    for (std::size_t i = 0; i < members.size(); ++i) {
      const int from = members[i] / level.devices, to = members[(i + 1) % members.size()] / level.devices;
      if (from == to) continue;
      Edge& edge = edges[i];
      edge.rate = std::min({edge.rate, way_out(cluster, level, from) * share, way_out(cluster, level, to) * share});
      if (level.devices == cluster.devices_per_node) edge.leaves_node = true;
    }
  }
  if (cluster.devices_per_card > 1)
    for (std::size_t i = 0; i < members.size(); ++i)
      edges[i].leaves_card =
          members[i] / cluster.devices_per_card != members[(i + 1) % members.size()] / cluster.devices_per_card;
  return edges;
}

Ring ring_of(const ClusterSpec& cluster, std::span<const int> members) {
  return {placement_of(members, cluster.devices_per_node), ring_bandwidth(cluster, members),
          edges_of(cluster, members)};
}

double latency_of(const Edge& edge, const HopLatencies& hops) {
  return edge.leaves_node ? hops.inter : edge.leaves_card ? hops.intra : hops.card;
}

double ring_seconds(const ClusterSpec& cluster, const Ring& ring, const Protocol& protocol, OpKind kind,
                    std::span<const int> members, double bytes) {
  const int n = static_cast<int>(members.size());
  if (kind == OpKind::all_to_all) {
    double seconds = 0, latency = 0;
    for (const NetworkLevel& level : levels_of(cluster, cluster.inter_efficiency)) {
      if (within_one(members, level.devices)) break;
      for_each_unit(members, level.devices, [&](int count, int unit) {
        const double leaving = bytes * (n - count) / n;  // of each member's tensor
        seconds = std::max(seconds, leaving * level.devices / way_out(cluster, level, unit));
      });
    }
    for (const Edge& edge : ring.edges) latency += latency_of(edge, protocol.hops);
    return cluster.collective_latency_s + latency * (n - 1) / n + seconds / protocol.share;
  }
  const double phase_bytes = bytes / n / protocol.share;
  std::vector<RingEdge> edges;
  edges.reserve(ring.edges.size());
  for (const Edge& edge : ring.edges) edges.push_back({phase_bytes / edge.rate, latency_of(edge, protocol.hops)});
  const bool chain = kind == OpKind::broadcast || kind == OpKind::reduce;
  const double rounds = kind == OpKind::all_reduce || chain ? 2 : 1;
  const double fill = rounds / 2 * cluster.ring_fill * phase_bytes / ring.bandwidth;
  if (!chain)
    return cluster.collective_latency_s + ring_phases_seconds(edges, static_cast<int>(rounds) * (n - 1)) + fill;
  double latency = 0;  // a chain passes each of its edges once
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) latency += edges[i].latency;
  return cluster.collective_latency_s + latency + rounds * (n - 1) * phase_bytes / ring.bandwidth + fill;
}

double tree_seconds(const ClusterSpec& cluster, const Ring& ring, const Protocol& protocol, OpKind kind, std::size_t n,
                    double bytes) {
  const double rounds = kind == OpKind::all_reduce ? 2 : 1;
  const int depth = static_cast<int>(std::bit_width(static_cast<unsigned>(ring.placement.nodes - 1)));
  double a_byte = 0;
  for (const Edge& edge : ring.edges) {
    // Of two nodes each is the root of one tree and the leaf of the other: half moves up, and half down.
    const double times = edge.leaves_node && ring.placement.nodes == 2 ? 1 : rounds;
    a_byte = std::max(a_byte, times / edge.rate);
  }
  const double latency = rounds * ((ring.placement.greatest - 1) * protocol.hops.intra + depth * protocol.hops.inter);
  const double fill = rounds / 2 * cluster.ring_fill / static_cast<double>(n) / ring.bandwidth;
  return cluster.collective_latency_s + latency + bytes * (a_byte + fill) / protocol.share;
}

/// The faster of the cluster's protocols.
template <class Seconds>
double with_best_protocol(std::span<const Protocol> protocols, Seconds seconds) {
  double best = no_limit;
  for (const Protocol& protocol : protocols) best = std::min(best, seconds(protocol));
  return best;
}

double best_ring(const ClusterSpec& cluster, const Ring& ring, OpKind kind, std::span<const int> members,
                 double bytes) {
  return with_best_protocol(protocols_of(cluster), [&](const Protocol& protocol) {
    return ring_seconds(cluster, ring, protocol, kind, members, bytes);
  });
}

double hierarchical_seconds(const ClusterSpec& cluster, std::span<const int> members, double bytes) {
  const Placement placement = placement_of(members, cluster.devices_per_node);
  const int g = placement.greatest;
  std::vector<int> across;  // one of each node
  for (const int member : members)
    if (across.empty() || member / cluster.devices_per_node != across.back() / cluster.devices_per_node)
      across.push_back(member);
  const auto inside = members.first(static_cast<std::size_t>(g));
  const Ring within = ring_of(cluster, inside);
  return best_ring(cluster, within, OpKind::reduce_scatter, inside, bytes) +
         best_ring(cluster, ring_of(cluster, across), OpKind::all_reduce, across, bytes / g) +
         best_ring(cluster, within, OpKind::all_gather, inside, bytes);
}

}  // namespace

const char* name_of(NetworkUnit unit) {
  switch (unit) {
    case NetworkUnit::device: return "device";
    case NetworkUnit::card: return "card";
    case NetworkUnit::node: return "node";
    case NetworkUnit::leaf_switch: return "leaf switch";
  }
  return "?";
}

std::vector<NetworkLevel> network_levels(const ClusterSpec& cluster) {
  return levels_of(cluster, cluster.inter_efficiency);
}

std::vector<Protocol> protocols_of(const ClusterSpec& c) {
  std::vector<Protocol> protocols{
      {{c.devices_per_card > 1 ? c.card_latency_s : c.intra_latency_s, c.intra_latency_s, c.inter_latency_s}, 1}};
  if (c.quick_share > 0)
    protocols.push_back({{c.quick_intra_latency_s, c.quick_intra_latency_s, c.quick_inter_latency_s}, c.quick_share});
  return protocols;
}

std::optional<Route> library_route(CollectiveChoice choice) {
  switch (choice) {
    case CollectiveChoice::automatic: return Route::best;
    case CollectiveChoice::ring: return Route::ring;
    case CollectiveChoice::tree: return Route::tree;
    case CollectiveChoice::naive:
    case CollectiveChoice::halving_doubling: break;
  }
  return std::nullopt;
}

double ring_bandwidth(const ClusterSpec& cluster, std::span<const int> members) {
  return slowest_way_out(cluster, members, cluster.inter_efficiency);
}

double collective_seconds(const ClusterSpec& cluster, Route route, OpKind kind, std::span<const int> members,
                          double bytes) {
  if (members.size() < 2) return 0;
  check_links(cluster, members);
  const Ring of_group = ring_of(cluster, members);
  const double ring = best_ring(cluster, of_group, kind, members, bytes);
  const bool to_or_from_one = kind == OpKind::broadcast || kind == OpKind::reduce;
  if ((route == Route::tree || route == Route::best) && (kind == OpKind::all_reduce || to_or_from_one)) {
    const double tree = with_best_protocol(protocols_of(cluster), [&](const Protocol& protocol) {
      return tree_seconds(cluster, of_group, protocol, kind, members.size(), bytes);
    });
    return route == Route::tree ? tree : std::min(ring, tree);
  }
  if (route == Route::hierarchical && kind == OpKind::all_reduce) {
    const Placement& placement = of_group.placement;
    if (placement.nodes > 1 && placement.least == placement.greatest && placement.least > 1)
      return hierarchical_seconds(cluster, members, bytes);
  }
  return ring;
}

MessageCost message_cost(const ClusterSpec& cluster, int from, int to) {
  const int ends[] = {std::min(from, to), std::max(from, to)};
  if (cluster.devices_per_card > 1 && within_one(ends, cluster.devices_per_card))
    return {cluster.card_latency_s, cluster.card_bandwidth * cluster.intra_efficiency};
  const bool near = within_one(ends, cluster.devices_per_node);
  const double share = cluster.message_efficiency > 0 ? cluster.message_efficiency : cluster.inter_efficiency;
  return {near ? cluster.intra_latency_s : cluster.inter_latency_s, slowest_way_out(cluster, ends, share)};
}

MessageCost stage_message_cost(const ClusterSpec& cluster, int from, int to, std::span<const int> tensor_group) {
  MessageCost cost = message_cost(cluster, from, to);
  const auto n = static_cast<double>(tensor_group.size());
  const double times = cluster.software.serial_messages ? 2 : 1;
  if (!cluster.software.split_transfers || n < 2) return {cost.latency * times, cost.bandwidth / times};
  // A latency and a bandwidth, from the times of large gathers. For small ones hops are not hidden, and another
  // protocol is faster.
  const auto gather = [&](double bytes) {
    return collective_seconds(cluster, Route::ring, OpKind::all_gather, tensor_group, bytes);
  };
  const double many = 1e9, a_byte = (gather(2 * many) - gather(many)) / many;
  const double none = gather(many) - many * a_byte;
  return {(cost.latency + none) * times, 1 / (1 / (cost.bandwidth * n) + a_byte) / times};
}

}  // namespace rankscope
