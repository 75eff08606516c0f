// An all-reduce on three levels: within nodes, between them, and within them again. It sends a g-th of the bytes of
// a ring over all members through each network port, and its hops grow with the number of nodes, not of
// members. See transfer.hpp for the buffers.
#pragma once
#include "engine/plan/collective/transfer.hpp"

namespace rankscope {

/// Members are nodes of `per_node` = g, one after the other; N = n/g nodes. A ring reduce-scatter in each node, g-1
/// phases of E/g elements; a ring all-reduce over the nodes of every g-th, 2(N-1) phases of E/(gN); a ring all-gather
/// in each node. 2(n-1)·E elements on the wire in all. Throws std::invalid_argument when g does not divide n.
std::vector<Transfer> hierarchical_all_reduce(int n, int per_node, std::int64_t elements);

}  // namespace rankscope
