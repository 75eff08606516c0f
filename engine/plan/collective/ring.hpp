// Ring algorithms: member i sends to i + 1 only (all_to_all: to every member, in rotation). See transfer.hpp for the
// buffers. The ring all-reduce is Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms", JPDC 2009.
#pragma once
#include "engine/plan/collective/transfer.hpp"

namespace rankscope {

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

}  // namespace rankscope
