#include "engine/predict/network/link.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "engine/plan/collective/cost.hpp"
#include "engine/predict/network/network.hpp"

namespace rankscope {
namespace {

Link slowest(const Link& a, const Link& b) {
  Link link{std::max(a.latency_ns, b.latency_ns), 0};
  if (a.bytes_per_ns > 0 && b.bytes_per_ns > 0)
    link.bytes_per_ns = std::min(a.bytes_per_ns, b.bytes_per_ns);
  else
    link.bytes_per_ns = std::max(a.bytes_per_ns, b.bytes_per_ns);  // 0 is infinite
  return link;
}

/// `phases` times the latency and the bytes of all of them.
std::int64_t phases_ns(const Link& link, int phases, double bytes) {
  return phases * link.latency_ns + (link.bytes_per_ns > 0 ? std::llround(bytes / link.bytes_per_ns) : 0);
}

}  // namespace

double positive_figure(double value, const char* key, const ClusterSpec& cluster) {
  if (value > 0) return value;
  throw std::invalid_argument("cluster '" + cluster.label() + "' does not say its " + key +
                              "; a modelled cost needs a positive value");
}

Link cluster_link(const ClusterSpec& cluster, int from, int to) {
  const MessageCost cost = message_cost(cluster, from, to);
  return {std::llround(cost.latency * 1e9), cost.bandwidth * 1e-9};
}

std::int64_t ring_ns(OpKind kind, std::span<const int> members, std::int64_t payload,
                     const std::function<Link(int, int)>& link) {
  const auto n = static_cast<int>(members.size());
  if (n < 2) return 0;
  Link ring = link(members[n - 1], members[0]);
  for (std::size_t i = 0; i + 1 < members.size(); ++i) ring = slowest(ring, link(members[i], members[i + 1]));
  const bool twice = kind == OpKind::all_reduce || kind == OpKind::broadcast || kind == OpKind::reduce;
  const int phases = (twice ? 2 : 1) * (n - 1);
  const double chunk = static_cast<double>(payload) / (gathers_parts(kind) ? 1 : n);
  return phases_ns(ring, phases, phases * chunk);
}

std::int64_t algorithm_ns(OpKind kind, Algorithm algorithm, std::span<const int> members, std::int64_t payload,
                          const std::function<Link(int, int)>& link) {
  const auto n = static_cast<int>(members.size());
  if (n < 2) return 0;
  Link pace = link(members[0], members[1]);
  for (const int from : members)
    for (const int to : members)
      if (from != to) pace = slowest(pace, link(from, to));
  std::int64_t elements = gathers_parts(kind) ? payload * n : payload;
  // Lists have equal parts; bytes that do not divide evenly are rounded up.
  if (has_parts(kind)) elements = (elements + n - 1) / n * n;
  const WireCount count = count_wire(transfers_of(kind, algorithm, n, elements), n);
  double bytes = 0;
  for (const std::int64_t busiest : count.busiest) bytes += static_cast<double>(busiest);
  return phases_ns(pace, count.phases, bytes);
}

}  // namespace rankscope
