// The builders of transfer lists, algorithm by algorithm. See transfer.hpp for the buffers.
#pragma once
#include "engine/plan/collective/transfer.hpp"

namespace rankscope {

// Ring algorithms: member i sends to i + 1 only (all_to_all: to every member, in rotation). The ring all-reduce is
// Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms", JPDC 2009.

/// n-1 phases, in each of which every member passes a chunk on: (n-1)·E elements on the wire in all. Chunk i is summed
/// in the order i+1, i+2, …, i and ends at member i.
std::vector<Transfer> ring_reduce_scatter(int n, std::int64_t elements);
/// n-1 phases, (n-1)·E elements.
std::vector<Transfer> ring_all_gather(int n, std::int64_t elements);
/// 2(n-1) phases, 2(n-1)·E elements: 2(n-1)/n of the buffer per member.
std::vector<Transfer> ring_all_reduce(int n, std::int64_t elements);

/// n chunks pipelined along the chain root, root+1, …: 2(n-1) phases, (n-1)·E elements.
std::vector<Transfer> ring_broadcast(int n, std::int64_t elements, int root);
/// The same chain in reverse, with sums.
std::vector<Transfer> ring_reduce(int n, std::int64_t elements, int root);
/// n-1 phases; the part of the member q steps from the root needs q hops: (n-1)/2·E elements.
std::vector<Transfer> ring_scatter(int n, std::int64_t elements, int root);
std::vector<Transfer> ring_gather(int n, std::int64_t elements, int root);

/// n-1 phases, (n-1)/n·E elements per member.
std::vector<Transfer> rotation_all_to_all(int n, std::int64_t elements);

// The naive algorithms: the root communicates with one member after the other.

/// n-1 phases, (n-1)·E elements, all through the root's link. A sum is computed in the order root, root+1, ….
std::vector<Transfer> naive_broadcast(int n, std::int64_t elements, int root);
std::vector<Transfer> naive_reduce(int n, std::int64_t elements, int root);
/// 2(n-1) phases, 2(n-1)·E elements.
std::vector<Transfer> naive_all_reduce(int n, std::int64_t elements);
/// n-1 phases, (n-1)/n·E elements.
std::vector<Transfer> naive_scatter(int n, std::int64_t elements, int root);
std::vector<Transfer> naive_gather(int n, std::int64_t elements, int root);
/// 2(n-1) phases, (n-1)·E + (n-1)/n·E elements.
std::vector<Transfer> naive_all_gather(int n, std::int64_t elements);
std::vector<Transfer> naive_reduce_scatter(int n, std::int64_t elements);
/// n(n-1) phases of one transfer each, (n-1)·E elements.
std::vector<Transfer> naive_all_to_all(int n, std::int64_t elements);

// Binomial trees rooted at any member: ceil(log2 n) phases. See Thakur, Rabenseifner and Gropp, "Optimization of
// collective communication operations in MPICH", IJHPCA 2005.

/// (n-1)·E elements.
std::vector<Transfer> tree_broadcast(int n, std::int64_t elements, int root);
std::vector<Transfer> tree_reduce(int n, std::int64_t elements, int root);
std::vector<Transfer> tree_all_reduce(int n, std::int64_t elements);
/// The part of the member q steps from the root needs popcount(q) hops. Chunks need not be equal.
std::vector<Transfer> tree_scatter(int n, std::int64_t elements, int root);
std::vector<Transfer> tree_gather(int n, std::int64_t elements, int root);
std::vector<Transfer> tree_all_gather(int n, std::int64_t elements);
std::vector<Transfer> tree_reduce_scatter(int n, std::int64_t elements);

// Recursive halving and doubling. With p the greatest power of two up to n, the first n-p odd members are folded into
// their even neighbours before and unfolded after. See Rabenseifner, "Optimization of collective reduction operations",
// ICCS 2004.

/// log2 p phases (two more when folding), (n-1)·E elements and, when folding, the folded members' chunks once more.
std::vector<Transfer> halving_reduce_scatter(int n, std::int64_t elements);
/// log2 p phases (two more when folding), (n-1)·E elements.
std::vector<Transfer> doubling_all_gather(int n, std::int64_t elements);
/// 2 log2 p phases (two more when folding), 2(n-1)·E elements.
std::vector<Transfer> halving_doubling_all_reduce(int n, std::int64_t elements);
/// A tree scatter of n chunks, then doubling_all_gather.
std::vector<Transfer> halving_doubling_broadcast(int n, std::int64_t elements, int root);
/// halving_reduce_scatter, then a tree gather of n chunks.
std::vector<Transfer> halving_doubling_reduce(int n, std::int64_t elements, int root);

// An all-reduce in three levels: within nodes, between them, and within them again. It sends 1/g of the bytes of
// a ring over all members through each network port, and its number of hops grows with the number of nodes, not of
// members.

/// Each `per_node` = g consecutive members are a node; N = n/g nodes. A ring reduce-scatter in each node, g-1
/// phases of E/g elements; a ring all-reduce over every g-th member, 2(N-1) phases of E/(gN); a ring all-gather
/// in each node. 2(n-1)·E elements on the wire in all. Throws std::invalid_argument when g does not divide n.
std::vector<Transfer> hierarchical_all_reduce(int n, int per_node, std::int64_t elements);

}  // namespace rankscope
