// An all-reduce in three levels: within nodes, between them, and within them again. It sends 1/g of the bytes of
// a ring over all members through each network port, and its number of hops grows with the number of nodes, not of
// members. See transfer.hpp for the buffers.
#pragma once
#include "engine/plan/collective/transfer.hpp"

namespace rankscope {

/// Each `per_node` = g consecutive members are a node; N = n/g nodes. A ring reduce-scatter in each node, g-1
/// phases of E/g elements; a ring all-reduce over every g-th member, 2(N-1) phases of E/(gN); a ring all-gather
/// in each node. 2(n-1)·E elements on the wire in all. Throws std::invalid_argument when g does not divide n.
std::vector<Transfer> hierarchical_all_reduce(int n, int per_node, std::int64_t elements);

}  // namespace rankscope
