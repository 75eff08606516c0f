// A link between two ranks, and times of collectives over links of one kind in closed form.
#pragma once
#include <cstdint>
#include <functional>
#include <span>

#include "engine/op/kind.hpp"
#include "engine/plan/collective/transfer.hpp"
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// alpha-beta model of one link.
struct Link {
  std::int64_t latency_ns = 0;
  double bytes_per_ns = 0;  ///< one direction; 0 means infinite
  std::int64_t transfer_ns(std::int64_t bytes) const {
    return latency_ns + (bytes_per_ns > 0 ? static_cast<std::int64_t>(static_cast<double>(bytes) / bytes_per_ns) : 0);
  }
};

/// `value`, or std::invalid_argument that names the cluster's key if it is not positive.
double positive_figure(double value, const char* key, const ClusterSpec& cluster);

/// A message between two ranks, while all ranks of the node send one: message_cost in network.hpp.
Link cluster_link(const ClusterSpec& cluster, int from, int to);

/// A ring over `members` at the speed of its slowest link: every phase moves S/n bytes, S is the complete tensor.
///
///   all_reduce                                     2(n-1)·α + 2(n-1)/n·S/B
///   all_gather, reduce_scatter, scatter, gather,
///   all_to_all                                      (n-1)·α +  (n-1)/n·S/B
///   broadcast, reduce (pipelined chain)            2(n-1)·α + 2(n-1)/n·S/B
///
/// `payload` is what one rank contributes: a part (S/n) for all_gather and gather, all of S for the others.
std::int64_t ring_ns(OpKind kind, std::span<const int> members, std::int64_t payload,
                     const std::function<Link(int from, int to)>& link);

/// Any of the transparent algorithms: the phases of its transfer list, each as long as its busiest member needs at
/// the speed of the group's slowest link. Equal to ring_ns for the ring when n divides the payload.
std::int64_t algorithm_ns(OpKind kind, Algorithm algorithm, std::span<const int> members, std::int64_t payload,
                          const std::function<Link(int from, int to)>& link);

}  // namespace rankscope
