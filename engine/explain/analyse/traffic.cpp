#include "engine/explain/analyse/traffic.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "engine/explain/analyse/exchange.hpp"
#include "engine/plan/collective/cost.hpp"
#include "engine/plan/program/communication.hpp"

namespace rankscope::analysis {
namespace {

using Key = std::tuple<Purpose, OpKind, GroupKind>;
// Above this number the report is by purpose only: the pairs would be too many to read.
constexpr int most_linked_ranks = 64;

struct Sum {
  double count = 0, bytes = 0;
  int ranks = 0;
};

/// Bytes that one member of a collective sends, on average over the group. "auto" is loopback's own choice.
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
  const std::optional<Algorithm> algorithm = algorithm_of(facts.plan.collective);
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
      sum.ranks += takes_part.insert(key).second;
    }
  }
  return sums;
}

}  // namespace

std::vector<TrafficReport> traffic_of(const RunFacts& facts, const RunTotals& totals) {
  std::map<Key, TrafficReport> rows;
  for (const auto& [key, sum] : predicted_traffic(facts)) {
    TrafficReport& row = rows[key];
    row.count = sum.count / sum.ranks;
    row.predicted = sum.bytes / sum.ranks;
  }
  for (const auto& [key, sum] : totals.traffic) {
    TrafficReport& row = rows[key];
    const auto reports = static_cast<double>(sum.rows);
    row.count = static_cast<double>(sum.count) / reports;
    if (sum.payload_bytes >= 0) row.payload_per_rank = static_cast<double>(sum.payload_bytes) / reports;
    if (!sum.opaque) row.bytes_per_rank = static_cast<double>(sum.wire_bytes) / reports;
  }
  std::vector<TrafficReport> traffic;
  for (auto& [key, row] : rows) {
    std::tie(row.purpose, row.collective, row.group) = key;
    traffic.push_back(row);
  }
  return traffic;
}

std::vector<LinkReport> links_of(const RunFacts& facts, const Step& linked, const RunTotals& totals) {
  const auto ranks = static_cast<int>(linked.ranks());
  if (ranks > most_linked_ranks) return {};
  const TrafficMatrix predicted =
      traffic_matrix(linked, algorithm_of(facts.plan.collective), {}, most_linked_ranks, Automatic::direct);
  std::vector<LinkReport> links;
  for (int from = 0; from < ranks; ++from) {
    const auto sender = totals.ranks.find(from);
    for (int to = 0; to < ranks; ++to) {
      LinkReport link{from, to};
      link.predicted = predicted.at(from, to);
      if (sender != totals.ranks.end() && sender->second.links_complete) {
        const auto measured = sender->second.sent.find(to);
        link.bytes = measured == sender->second.sent.end()
                         ? 0
                         : static_cast<double>(measured->second) / static_cast<double>(sender->second.steps);
      }
      if (link.predicted > 0 || link.bytes > 0) links.push_back(link);
    }
  }
  return links;
}

}  // namespace rankscope::analysis
