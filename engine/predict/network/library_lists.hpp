// The collectives of a library such as NCCL (plan.collective = "auto") as transfer lists: several parallel rings or
// trees, each over all members with a part of the tensor, which leave every node through different ports. The
// exact version of the closed forms of network.hpp.
#pragma once
#include "engine/predict/network/laid_out.hpp"
#include "engine/predict/network/network.hpp"

namespace rankscope {

/// The members in the order in which each ring passes them: as many rings as the node with the fewest members has,
/// which begin and end at another device of every card and of every node; or with cluster.ring_ports so many that the
/// rings leave a node through that number of ports. `place`: how many groups of the kind come before this one, by
/// which rings of few ports are spread over them.
std::vector<std::vector<int>> rings_of(const ClusterSpec& cluster, std::span<const int> members, int place);

/// Parents, -1 of the root: two binary trees over `n`, in which no inner node of the one is one of the other's, but
/// for the root (Sanders, Speck and Träff 2009; node i's height is that of its lowest bit).
std::vector<int> in_order_tree(int n, bool mirrored);

/// An all-reduce of `elements` up a tree and down again, cut into `chunks` that follow each other: depth and chunks
/// make its phases. In a phase a parent may add what several children send.
std::vector<Transfer> tree_pipeline(std::span<const int> parents, std::int64_t elements, int chunks);

/// collective_seconds of these routes (ring, tree, hierarchical; of a tree and a hierarchy the all_reduce) from their
/// lists, beside the other groups of the grid's kind. Of the order of n² transfers. Throws std::invalid_argument for
/// what has no list here.
double listed_seconds(const ClusterSpec& cluster, const RankGrid& grid, Route route, OpKind kind,
                      std::span<const int> members, double bytes);

}  // namespace rankscope
