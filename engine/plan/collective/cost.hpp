// What a transfer list costs on the wire: counted from the list, and in closed form.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/plan/collective/transfer.hpp"

namespace rankscope {

/// Elements by member and by phase.
struct WireCount {
  int phases = 0;
  std::int64_t total = 0;
  std::vector<std::int64_t> sent, received;  ///< by member
  /// The most that any member sends or receives in each phase: with latency a and b seconds per element, full-duplex
  /// links take the sum over phases of (a + b · busiest[phase]).
  std::vector<std::int64_t> busiest;
};
WireCount count_wire(const std::vector<Transfer>& transfers, int n);

/// The closed form, exact for any n and any number of elements: count_wire's result, without a list. An empty phase
/// (fewer elements than members) still counts as a phase here.
struct WireCost {
  int phases = 0;
  std::int64_t total = 0;  ///< elements sent by all members together
  bool operator==(const WireCost&) const = default;
};
WireCost wire_cost(OpKind kind, Algorithm algorithm, int n, std::int64_t elements, int root = 0);

/// Bus bandwidth over algorithm bandwidth (the tensor's bytes over the time) of n ranks: the load of a link of a ring,
/// so that figures of different n can be compared (NVIDIA, nccl-tests, PERFORMANCE.md).
///
///   all_reduce 2(n-1)/n · all_gather, reduce_scatter, all_to_all, gather, scatter (n-1)/n · broadcast, reduce and
///   messages 1
double bus_factor(OpKind kind, int n);

/// Elements that cross between the members' memories where each reads its data directly from its place, as the
/// loopback communicator's own collectives ("auto") do. A sum is a direct reduce-scatter and the steps after it:
///
///   broadcast, all_gather, reduce_scatter, all_to_all   (n-1)·E
///   scatter, gather                                     (n-1)/n·E
///   all_reduce                                          2(n-1)·E
///   reduce                                              n·E minus the root's chunk
///
/// For E and root see transfers_of.
std::int64_t direct_elements(OpKind kind, int n, std::int64_t elements, int root = 0);

/// Elements that one member sends to another in a collective.
struct PairElements {
  int from = 0, to = 0;
  std::int64_t elements = 0;
};
/// For each pair that has any: by an algorithm's transfers, or without an algorithm by direct reads
/// (direct_elements).
std::vector<PairElements> pair_elements(OpKind kind, std::optional<Algorithm> algorithm, int n, std::int64_t elements,
                                        int root = 0);

}  // namespace rankscope
