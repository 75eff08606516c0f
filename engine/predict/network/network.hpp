// Costs of communication on a machine's topology: cards within nodes within leaf switches, each with its own uplink.
//
// Contention: all groups of a kind are assumed to communicate at the same time, as in a training step. A unit (a
// card, a node, a leaf) has one uplink that all its devices share, so a group with m of a unit's d devices gets m/d of
// it. In a node with as many network ports (rails) as devices, each device has one rail; a group never uses more than
// cluster.ring_ports of them (NCCL routes all rings of a group through the ports that are nearest to their ends). The
// ports of cluster.slow_node are slower by slow_node_factor.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/op/kind.hpp"
#include "engine/plan/scenario/scenario.hpp"
#include "engine/predict/network/wires.hpp"

namespace rankscope {

/// Units with an uplink that all their devices share; from the device outwards.
enum class NetworkUnit : std::uint8_t { device, card, node, leaf_switch };
const char* name_of(NetworkUnit unit);

/// Units of one kind.
struct NetworkLevel {
  NetworkUnit unit = NetworkUnit::device;
  int devices = 1;     ///< of one unit
  double way_out = 0;  ///< bytes/s each way, efficiencies included
};
/// Those that the cluster's figures describe.
std::vector<NetworkLevel> network_levels(const ClusterSpec& cluster);

/// Bytes/s of a ring over `members` (world ranks, ascending): the smallest share that its members have of the uplinks
/// of all units that it leaves, efficiencies included. Infinite for one member.
double ring_bandwidth(const ClusterSpec& cluster, std::span<const int> members);

/// The route of a collective.
enum class Route : std::uint8_t {
  ring,          ///< best bandwidth
  tree,          ///< all_reduce, broadcast, reduce: chains within the nodes, a double binary tree over them
  hierarchical,  ///< all_reduce: reduce-scatter within the nodes, rings over them on all rails, all-gather within
  best,          ///< the faster of ring and tree, as NCCL chooses
};

/// The route of plan.collective in a library; empty for an algorithm that no library has.
std::optional<Route> library_route(CollectiveChoice choice);

/// How a library moves bytes: long hops at the full rate, or short hops at a part of it (quick_share).
struct Protocol {
  HopLatencies hops;
  double share = 1;
};
/// Those that the cluster has, the full rate first.
std::vector<Protocol> protocols_of(const ClusterSpec& cluster);

/// Seconds of a collective after all its members have arrived, while all groups of its kind communicate: the closed
/// form of its transfer lists on the links (library_lists.hpp); a test compares the two. S = `bytes` is the whole
/// tensor (for all_gather: each member's result), n the members on N nodes (g each), b_e and α_e the rate and the
/// latency of the ring's edges, B = ring_bandwidth the least rate, F cluster.ring_fill, L cluster.collective_latency_s:
///
///   ring           all_reduce               L + 2(n-1) phases of S/n over the edges (ring_phases_seconds) + F/n·S/B.
///                                           Where edges are equal that is L + 2(n-1)·α + (2(n-1) + F)/n·S/B
///                  all_gather, reduce_scatter, gather, scatter   half of phases and fill
///                  broadcast, reduce        L + α of all edges but one + (2(n-1) + F)/n·S/B (a chain of n chunks)
///                  all_to_all               hops of all_gather; bytes that leave each unit over its uplink
///   tree           all_reduce               L + 2(g-1)·α_intra + 2⌈log2 N⌉·α_inter + 2·S/B (between two nodes
///                                           S/B) + F/n·S/B, so that a tree over two is a ring over two
///                  broadcast, reduce        half of that
///   hierarchical   L each + rings within a node over S, a ring over the nodes over S/g for each of the g rails
///
/// (Latencies of hops as in NCCL's own model, src/graph/tuning.cc; bandwidths by Patarasuk and Yuan 2009, Sanders,
/// Speck and Träff 2009.) The fastest of the cluster's protocols counts. A collective that a route does not have uses
/// the ring.
double collective_seconds(const ClusterSpec& cluster, Route route, OpKind kind, std::span<const int> members,
                          double bytes);

/// Seconds and bytes/s of a message from one rank to another while all ranks of the node send one; between nodes at
/// cluster.message_efficiency of the ports.
struct MessageCost {
  double latency = 0, bandwidth = 0;
  double seconds(double bytes) const { return latency + bytes / bandwidth; }
};
MessageCost message_cost(const ClusterSpec& cluster, int from, int to);

/// An activation between pipeline stages: as message_cost, or if software.split_transfers is set and all `tensor`
/// ranks would send the same, a share each and then an all-gather over the tensor group (Narayanan et al. 2021,
/// section 4.1). With software.serial_messages twice that: a sender waits for it, and so does its receiver, which can
/// neither compute nor exchange other data meanwhile; both times are counted at the sender. `tensor_group`: the
/// receiver's.
MessageCost stage_message_cost(const ClusterSpec& cluster, int from, int to, std::span<const int> tensor_group);

}  // namespace rankscope
