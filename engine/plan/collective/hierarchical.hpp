// An all-reduce in three storeys: within nodes, over them, and within them again. Of a network it needs a g-th of what
// a ring over all members does for each of the nodes' ports, and hops that grow with the nodes and not with the
// members. See transfer.hpp for the buffers.
#pragma once
#include "engine/plan/collective/transfer.hpp"

namespace rankscope {

/// Members are nodes of `per_node` = g, one after the other; N = n/g nodes. A ring reduce-scatter in each node, g-1
/// phases of E/g elements; a ring all-reduce over the nodes of every g-th, 2(N-1) phases of E/(gN); a ring all-gather
/// in each node. 2(n-1)·E elements on the wire in all. Throws std::invalid_argument when g does not divide n.
std::vector<Transfer> hierarchical_all_reduce(int n, int per_node, std::int64_t elements);

}  // namespace rankscope
