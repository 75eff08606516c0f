#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "engine/explain/analyse/exchange.hpp"
#include "engine/op/not_known.hpp"
#include "engine/plan/collective/cost.hpp"
#include "telemetry/event/waiting.hpp"

namespace rankscope {
namespace {

using Key = std::pair<Purpose, OpKind>;

struct Sum {
  std::set<int> ranks;
  std::map<ExchangeIndex, std::vector<Span>> exchanges;
};

}  // namespace

std::vector<ExchangeTimes> exchange_times(const Step& linked, const std::vector<Span>& spans) {
  std::vector<std::unordered_map<OpId, ExchangeIndex>> exchange_of(linked.ranks());
  for (std::size_t rank = 0; rank < linked.ranks(); ++rank)
    for (Node node = linked.first[rank]; node < linked.first[rank + 1]; ++node)
      if (linked.exchange[node] != nobody && linked.members[linked.exchange[node]].size() > 1)
        exchange_of[rank].emplace(linked.ids[node], linked.exchange[node]);
  std::map<Key, Sum> sums;
  for (const Span& span : spans) {
    if (span.rank < 0 || static_cast<std::size_t>(span.rank) >= linked.ranks()) continue;
    const auto& of_rank = exchange_of[static_cast<std::size_t>(span.rank)];
    const auto found = of_rank.find(span.op);
    if (found == of_rank.end()) continue;
    const OpFields fields = linked.ids[linked.members[found->second].front()].fields();
    Sum& sum = sums[{fields.purpose, fields.kind}];
    sum.ranks.insert(span.rank);
    sum.exchanges[found->second].push_back(span);
  }
  std::vector<ExchangeTimes> result;
  for (auto& [key, sum] : sums) {
    ExchangeTimes times;
    times.purpose = key.first;
    times.kind = key.second;
    times.exchanges = static_cast<int>(sum.exchanges.size());
    std::int64_t waiting_ns = 0, transfer_ns = 0;
    std::set<std::int32_t> senders;
    double bytes = 0, seconds = 0;
    for (auto& [exchange, its_spans] : sum.exchanges) {
      const auto members = static_cast<int>(linked.members[exchange].size());
      const bool whole = static_cast<int>(its_spans.size()) >= members;
      times.members = std::max(times.members, members);
      if (whole) {
        std::vector<Span*> all;
        for (Span& span : its_spans) all.push_back(&span);
        set_waiting(all);
      }
      std::int64_t shortest_ns = std::numeric_limits<std::int64_t>::max();
      for (const Span& span : its_spans) {
        waiting_ns += span.active_ns - span.begin_ns;
        // A message's bytes are counted at its sender only: at both ends they would count twice.
        if (span.op.kind() != OpKind::receive) {
          transfer_ns += span.end_ns - span.active_ns;
          senders.insert(span.rank);
        }
        shortest_ns = std::min(shortest_ns, span.end_ns - span.active_ns);
      }
      const std::int64_t size = linked.exchanges[exchange].bytes;
      if (!whole || shortest_ns <= 0 || size < 0) continue;
      bytes += static_cast<double>(size) * bus_factor(key.second, members);
      seconds += static_cast<double>(shortest_ns) * 1e-9;
    }
    const auto ranks = static_cast<double>(sum.ranks.size());
    times.waiting_s = static_cast<double>(waiting_ns) * 1e-9 / ranks;
    times.transfer_s =
        senders.empty() ? not_known : static_cast<double>(transfer_ns) * 1e-9 / static_cast<double>(senders.size());
    times.bus_bandwidth = seconds > 0 ? bytes / seconds : not_known;
    result.push_back(times);
  }
  return result;
}

int TrafficMatrix::cell_of(int rank) const {
  int cell = ranks > 0 ? static_cast<int>(std::int64_t{rank} * side / ranks) : 0;
  while (cell + 1 < side && first_rank(cell + 1) <= rank) ++cell;
  return cell;
}

TrafficMatrix traffic_matrix(const Step& linked, std::optional<Algorithm> algorithm, std::optional<TrafficKey> only,
                             int most_cells, Automatic automatic) {
  TrafficMatrix matrix;
  matrix.ranks = static_cast<int>(linked.ranks());
  matrix.side = std::min(matrix.ranks, most_cells);
  const auto cells = static_cast<std::size_t>(matrix.side) * static_cast<std::size_t>(matrix.side);
  matrix.bytes.assign(cells, 0);
  matrix.hidden.assign(cells, 0);
  const auto index = [&](int from, int to) {
    return static_cast<std::size_t>(matrix.cell_of(from)) * static_cast<std::size_t>(matrix.side) +
           static_cast<std::size_t>(matrix.cell_of(to));
  };
  // A step has many identical collectives: each pair's traffic is computed once for each size.
  std::map<std::tuple<OpKind, int, std::int64_t, int>, std::vector<PairElements>> known;
  for (ExchangeIndex exchange = 0; exchange < linked.members.size(); ++exchange) {
    std::vector<int> ranks;
    for (const Node member : linked.members[exchange]) ranks.push_back(static_cast<int>(linked.rank_of(member)));
    const auto n = static_cast<int>(ranks.size());
    const OpFields fields = linked.ids[linked.members[exchange].front()].fields();
    const ExchangeFacts& facts = linked.exchanges[exchange];
    if (n < 2 || (only && (only->purpose != fields.purpose || only->kind != fields.kind))) continue;
    const bool is_message = !is_collective(fields.kind);
    if (facts.bytes < 0 || (!is_message && !algorithm && automatic == Automatic::opaque)) {
      for (const int from : ranks)
        for (const int to : ranks)
          if (from != to && !(is_message && from != ranks[0])) matrix.hidden[index(from, to)] = 1;
      continue;
    }
    if (is_message) {
      matrix.bytes[index(ranks[0], ranks[1])] += static_cast<double>(facts.bytes);
      continue;
    }
    const std::int64_t elements = facts.bytes / facts.width;
    const auto root = std::ranges::find(ranks, facts.root);
    const int root_index = root == ranks.end() ? 0 : static_cast<int>(root - ranks.begin());
    const auto [at, fresh] = known.try_emplace({fields.kind, n, elements, root_index});
    if (fresh) at->second = pair_elements(fields.kind, algorithm, n, elements, root_index);
    for (const PairElements& pair : at->second)
      matrix.bytes[index(ranks[static_cast<std::size_t>(pair.from)], ranks[static_cast<std::size_t>(pair.to)])] +=
          static_cast<double>(pair.elements * facts.width);
  }
  for (const double bytes : matrix.bytes) {
    matrix.total += bytes;
    matrix.greatest = std::max(matrix.greatest, bytes);
  }
  return matrix;
}

}  // namespace rankscope
