#include "engine/analyse/traffic.hpp"

#include <map>
#include <set>
#include <utility>

#include "engine/collective/cost.hpp"

namespace rankscope::analysis {
namespace {

using Key = std::pair<Purpose, OpKind>;

struct Sum {
  double count = 0, bytes = 0;
  int entries = 0;  ///< ranks, or ranks × steps
  bool opaque = false;
};

/// Bytes that one member sends, on average over the group, by a transparent algorithm; a ring moves the least.
double sent_per_member(OpKind kind, Algorithm algorithm, int n, std::int64_t payload) {
  if (n < 2) return 0;
  const bool contributes_a_part = kind == OpKind::all_gather || kind == OpKind::gather;
  const std::int64_t bytes = contributes_a_part ? payload * n : payload;
  return static_cast<double>(wire_cost(kind, algorithm, n, bytes).total) / n;
}

std::map<Key, Sum> predicted_traffic(const RunFacts& facts) {
  const Algorithm algorithm = algorithm_named(facts.plan.collective).value_or(Algorithm::ring);
  std::map<Key, Sum> sums;
  for (const RankProgram& program : facts.programs) {
    std::set<Key> takes_part;
    for (const Op& op : program.ops) {
      const OpFields f = op.id.fields();
      if (!is_communication(f.kind) || f.kind == OpKind::receive) continue;
      double bytes = static_cast<double>(program.payload_bytes(op));
      if (f.kind != OpKind::send) {
        const auto n = static_cast<int>(facts.grid.group_of(program.rank, op.group).size());
        if (n < 2) continue;
        bytes = sent_per_member(f.kind, algorithm, n, program.payload_bytes(op));
      }
      Sum& sum = sums[{f.purpose, f.kind}];
      sum.count += 1;
      sum.bytes += bytes;
      sum.entries += takes_part.insert({f.purpose, f.kind}).second;
    }
  }
  return sums;
}

std::map<Key, Sum> counted_traffic(const std::vector<StepSummary>& summaries) {
  std::map<Key, Sum> sums;
  for (const StepSummary& summary : summaries)
    for (const TrafficRow& row : summary.traffic) {
      if (row.kind == OpKind::receive || row.count == 0) continue;
      Sum& sum = sums[{row.purpose, row.kind}];
      sum.count += static_cast<double>(row.count);
      sum.bytes += static_cast<double>(row.wire_bytes);
      sum.opaque |= row.wire_bytes < 0;
      ++sum.entries;
    }
  return sums;
}

}  // namespace

std::vector<TrafficReport> traffic_of(const RunFacts& facts, const std::vector<StepSummary>& summaries) {
  std::map<Key, TrafficReport> rows;
  for (const auto& [key, sum] : predicted_traffic(facts)) {
    TrafficReport& row = rows[key];
    row.count = sum.count / sum.entries;
    row.predicted = sum.bytes / sum.entries;
  }
  for (const auto& [key, sum] : counted_traffic(summaries)) {
    TrafficReport& row = rows[key];
    row.count = sum.count / sum.entries;
    if (!sum.opaque) row.bytes_per_rank = sum.bytes / sum.entries;
  }
  std::vector<TrafficReport> traffic;
  for (auto& [key, row] : rows) {
    row.purpose = key.first;
    row.collective = key.second;
    traffic.push_back(row);
  }
  return traffic;
}

}  // namespace rankscope::analysis
