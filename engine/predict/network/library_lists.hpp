// The collectives of a library such as NCCL (plan.collective = "auto") as transfer lists: several parallel rings or
// trees, each over all members with a part of the tensor, which leave every node through different ports. The
// exact version of the closed forms of network.hpp.
#pragma once
#include "engine/predict/network/laid_out.hpp"
#include "engine/predict/network/network.hpp"

namespace rankscope {

/// [ring]: the members in the ring's order. There are as many rings as the node with the fewest members has members;
/// each begins and ends at another device of every card and every node. With cluster.ring_ports there are as many rings
/// as leave a node through that number of ports. `place`: the number of groups of the kind before this one: rings of
/// few ports are distributed over the ports by it.
std::vector<std::vector<int>> rings_of(const ClusterSpec& cluster, std::span<const int> members, int place);

/// Parents, -1 for the root, of two binary trees over `n`: an inner node of one tree is a leaf of the other, except for
/// the root (Sanders, Speck and Träff 2009; the height of node i is that of its lowest bit).
std::vector<int> in_order_tree(int n, bool mirrored);

/// An all-reduce of `elements` up a tree and down again, in `chunks` consecutive pieces: its phases depend on depth
/// and chunks. In a phase a parent may add the data of several children.
std::vector<Transfer> tree_pipeline(std::span<const int> parents, std::int64_t elements, int chunks);

/// collective_seconds of these routes (ring, tree, hierarchical; of a tree and a hierarchy the all_reduce) from their
/// lists, together with the other groups of the grid's kind. About n² transfers. Throws std::invalid_argument for
/// routes without a list here.
double listed_seconds(const ClusterSpec& cluster, const RankGrid& grid, Route route, OpKind kind,
                      std::span<const int> members, double bytes);

}  // namespace rankscope
