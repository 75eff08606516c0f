#include "engine/analyse/traffic.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "engine/analyse/exchange.hpp"
#include "engine/collective/cost.hpp"
#include "engine/program/communication.hpp"

namespace rankscope::analysis {
namespace {

using Key = std::tuple<Purpose, OpKind, GroupKind>;
// More than that are told by purpose alone: pairs are too many to read.
constexpr int most_linked_ranks = 64;

struct Sum {
  double count = 0, bytes = 0;
  int entries = 0;  ///< ranks, or ranks × steps
  bool opaque = false;
};

/// Bytes that one member of a collective sends, on average over the group. "auto" is what loopback does by itself.
double sent_per_member(const RankProgram& program, const Op& op, const std::vector<int>& group,
                       const std::optional<Algorithm>& algorithm) {
  const auto n = static_cast<int>(group.size());
  const OpKind kind = op.id.kind();
  const std::int64_t width = bytes_of(type_of(program, op)), elements = whole_bytes(program, op, n) / width;
  const auto root = std::find(group.begin(), group.end(), op.root);
  const int root_index = root == group.end() ? 0 : static_cast<int>(root - group.begin());
  const std::int64_t total = algorithm ? wire_cost(kind, *algorithm, n, elements, root_index).total
                                       : direct_elements(kind, n, elements, root_index);
  return static_cast<double>(total * width) / n;
}

std::map<Key, Sum> predicted_traffic(const RunFacts& facts) {
  const std::optional<Algorithm> algorithm = algorithm_named(facts.plan.collective);
  std::map<Key, Sum> sums;
  for (const RankProgram& program : facts.programs) {
    std::set<Key> takes_part;
    for (const Op& op : program.ops) {
      const OpFields f = op.id.fields();
      if (!moves_bytes(f.kind) || f.kind == OpKind::receive) continue;
      double bytes = 0;
      if (!is_collective(f.kind)) {
        bytes = static_cast<double>(program.payload_bytes(op));
      } else {
        const std::vector<int> group = facts.grid.group_of(program.rank, op.group);
        if (group.size() < 2) continue;
        bytes = sent_per_member(program, op, group, algorithm);
      }
      const Key key{f.purpose, f.kind, op.group};
      Sum& sum = sums[key];
      sum.count += 1;
      sum.bytes += bytes;
      sum.entries += takes_part.insert(key).second;
    }
  }
  return sums;
}

std::map<Key, Sum> counted_traffic(const std::vector<StepSummary>& summaries) {
  std::map<Key, Sum> sums;
  for (const StepSummary& summary : summaries)
    for (const TrafficRow& row : summary.traffic) {
      if (row.kind == OpKind::receive || row.count == 0) continue;
      Sum& sum = sums[{row.purpose, row.kind, row.group}];
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
    std::tie(row.purpose, row.collective, row.group) = key;
    traffic.push_back(row);
  }
  return traffic;
}

std::vector<LinkReport> links_of(const RunFacts& facts, const std::vector<StepSummary>& summaries) {
  const auto ranks = static_cast<int>(facts.programs.size());
  if (ranks > most_linked_ranks) return {};
  const TrafficMatrix predicted = traffic_matrix(facts.programs, facts.grid, algorithm_named(facts.plan.collective), {},
                                                 most_linked_ranks, Automatic::direct);
  std::map<std::pair<int, int>, double> sent;
  std::vector<int> steps(static_cast<std::size_t>(ranks), 0);
  std::set<int> incomplete;
  for (const StepSummary& summary : summaries) {
    if (summary.rank < 0 || summary.rank >= ranks) continue;
    ++steps[static_cast<std::size_t>(summary.rank)];
    std::int64_t told = 0, counted = 0;
    for (const SentBytes& link : summary.sent) {
      sent[{summary.rank, link.to}] += static_cast<double>(link.bytes);
      told += link.bytes;
    }
    for (const TrafficRow& row : summary.traffic) {
      if (!is_communication(row.kind)) continue;
      counted += std::max<std::int64_t>(row.wire_bytes, 0);
      if (row.wire_bytes < 0) incomplete.insert(summary.rank);
    }
    if (told != counted) incomplete.insert(summary.rank);  // recorded before links were
  }
  std::vector<LinkReport> links;
  for (int from = 0; from < ranks; ++from)
    for (int to = 0; to < ranks; ++to) {
      LinkReport link{from, to};
      link.predicted = predicted.at(from, to);
      const auto measured = sent.find({from, to});
      const int count = steps[static_cast<std::size_t>(from)];
      if (count > 0 && !incomplete.contains(from)) link.bytes = measured == sent.end() ? 0 : measured->second / count;
      if (link.predicted > 0 || link.bytes > 0) links.push_back(link);
    }
  return links;
}

}  // namespace rankscope::analysis
