// Recursive halving and doubling. With p the greatest power of two up to n, the first n-p odd members are folded into
// their even neighbours before and unfolded after. See transfer.hpp for the buffers, and Rabenseifner, "Optimization of
// collective reduction operations", ICCS 2004.
#pragma once
#include "engine/plan/collective/transfer.hpp"

namespace rankscope {

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

}  // namespace rankscope
