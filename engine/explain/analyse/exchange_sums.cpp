#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "engine/explain/analyse/exchange.hpp"
#include "engine/op/not_known.hpp"
#include "engine/plan/collective/cost.hpp"
#include "engine/plan/program/communication.hpp"
#include "telemetry/event/waiting.hpp"

namespace rankscope {
namespace {

using Key = std::pair<Purpose, OpKind>;

struct Instance {
  double bus_bytes = 0;
  int members = 0;
  std::vector<Span> spans;
  bool whole() const { return static_cast<int>(spans.size()) >= members; }
};
struct Sum {
  std::set<int> ranks;
  std::map<std::pair<OpId, int>, Instance> instances;  ///< by op and first member
};

}  // namespace

std::vector<ExchangeTimes> exchange_times(const std::vector<RankProgram>& programs, const RankGrid& grid,
                                          const std::vector<Span>& spans) {
  std::vector<std::unordered_map<OpId, const Op*>> ops(programs.size());
  for (std::size_t r = 0; r < programs.size(); ++r)
    for (const Op& op : programs[r].ops)
      if (is_communication(op.id.kind())) ops[r].emplace(op.id, &op);
  std::map<Key, Sum> sums;
  for (const Span& span : spans) {
    if (span.rank < 0 || span.rank >= static_cast<std::int32_t>(programs.size())) continue;
    const auto rank = static_cast<std::size_t>(span.rank);
    const auto found = ops[rank].find(span.op);
    if (found == ops[rank].end()) continue;
    const Op& op = *found->second;
    const OpFields fields = op.id.fields();
    const bool message = !is_collective(fields.kind);
    const OpKind kind = message ? OpKind::send : fields.kind;
    int first = span.rank, members = 2;
    OpId id = op.id;
    if (message) {
      if (fields.kind == OpKind::receive) {
        first = op.peer;
        id = counterpart(op.id);
      }
    } else {
      const std::vector<int> group = grid.group_of(span.rank, op.group);
      first = group.front();
      members = static_cast<int>(group.size());
      if (members < 2) continue;
    }
    Sum& sum = sums[{fields.purpose, kind}];
    sum.ranks.insert(span.rank);
    Instance& instance = sum.instances[{id, first}];
    instance.members = members;
    instance.spans.push_back(span);
    const std::int64_t size = message ? programs[rank].payload_bytes(op) : whole_bytes(programs[rank], op, members);
    instance.bus_bytes = static_cast<double>(size) * bus_factor(kind, members);
  }
  std::vector<ExchangeTimes> result;
  for (auto& [key, sum] : sums) {
    ExchangeTimes times;
    times.purpose = key.first;
    times.kind = key.second;
    times.exchanges = static_cast<int>(sum.instances.size());
    std::int64_t waiting_ns = 0, transfer_ns = 0;
    std::set<std::int32_t> senders;
    double bytes = 0, seconds = 0;
    for (auto& [id, instance] : sum.instances) {
      times.members = std::max(times.members, instance.members);
      if (instance.whole()) {
        std::vector<Span*> members;
        for (Span& span : instance.spans) members.push_back(&span);
        set_waiting(members);
      }
      std::int64_t shortest_ns = std::numeric_limits<std::int64_t>::max();
      for (const Span& span : instance.spans) {
        waiting_ns += span.active_ns - span.begin_ns;
        // A message's bytes are counted at its sender only: at both ends they would count twice.
        if (span.op.kind() != OpKind::receive) {
          transfer_ns += span.end_ns - span.active_ns;
          senders.insert(span.rank);
        }
        shortest_ns = std::min(shortest_ns, span.end_ns - span.active_ns);
      }
      if (!instance.whole() || shortest_ns <= 0) continue;
      bytes += instance.bus_bytes;
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

TrafficMatrix traffic_matrix(const std::vector<RankProgram>& programs, const RankGrid& grid,
                             std::optional<Algorithm> algorithm, std::optional<TrafficKey> only, int most_cells,
                             Automatic automatic) {
  TrafficMatrix matrix;
  matrix.ranks = static_cast<int>(programs.size());
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
  for (const RankProgram& program : programs)
    for (const Op& op : program.ops) {
      const OpFields fields = op.id.fields();
      if (!is_communication(fields.kind) || fields.kind == OpKind::receive) continue;
      if (only && (only->purpose != fields.purpose || only->kind != fields.kind)) continue;
      if (!is_collective(fields.kind)) {
        if (op.peer >= 0 && op.peer < matrix.ranks)
          matrix.bytes[index(program.rank, op.peer)] += static_cast<double>(program.payload_bytes(op));
        continue;
      }
      const std::vector<int> group = grid.group_of(program.rank, op.group);
      const auto n = static_cast<int>(group.size());
      if (n < 2 || group.front() != program.rank) continue;  // each group once
      if (!algorithm && automatic == Automatic::opaque) {
        for (const int from : group)
          for (const int to : group)
            if (from != to) matrix.hidden[index(from, to)] = 1;
        continue;
      }
      const std::int64_t width = bytes_of(type_of(program, op));
      const std::int64_t elements = whole_bytes(program, op, n) / width;
      const auto root = std::find(group.begin(), group.end(), op.root);
      const int root_index = root == group.end() ? 0 : static_cast<int>(root - group.begin());
      const auto [at, fresh] = known.try_emplace({fields.kind, n, elements, root_index});
      if (fresh) at->second = pair_elements(fields.kind, algorithm, n, elements, root_index);
      for (const PairElements& pair : at->second)
        matrix.bytes[index(group[pair.from], group[pair.to])] += static_cast<double>(pair.elements * width);
    }
  for (const double bytes : matrix.bytes) {
    matrix.total += bytes;
    matrix.greatest = std::max(matrix.greatest, bytes);
  }
  return matrix;
}

}  // namespace rankscope
