// Binomial trees rooted at any member: ceil(log2 n) phases. See transfer.hpp for the buffers, and Thakur, Rabenseifner
// and Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 2005.
#pragma once
#include "engine/plan/collective/transfer.hpp"

namespace rankscope {

/// (n-1)·E elements.
std::vector<Transfer> tree_broadcast(int n, std::int64_t elements, int root);
std::vector<Transfer> tree_reduce(int n, std::int64_t elements, int root);
std::vector<Transfer> tree_all_reduce(int n, std::int64_t elements);
/// The part of the member q steps from the root needs popcount(q) hops. Chunks need not be equal.
std::vector<Transfer> tree_scatter(int n, std::int64_t elements, int root);
std::vector<Transfer> tree_gather(int n, std::int64_t elements, int root);
std::vector<Transfer> tree_all_gather(int n, std::int64_t elements);
std::vector<Transfer> tree_reduce_scatter(int n, std::int64_t elements);

}  // namespace rankscope
