// The naive algorithms: the root communicates with one member after the other. See transfer.hpp for the buffers.
#pragma once
#include "engine/plan/collective/transfer.hpp"

namespace rankscope {

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

}  // namespace rankscope
