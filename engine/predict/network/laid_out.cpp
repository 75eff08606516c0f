#include "engine/predict/network/laid_out.hpp"

#include <algorithm>
#include <set>

namespace rankscope {
namespace {

/// The load of every link in one phase; only touched entries are cleared.
class Loads {
 public:
  explicit Loads(int links) : bytes_(static_cast<std::size_t>(links), 0) {}
  void add(const WirePath& path, double bytes) {
    for (const int link : path.each()) {
      double& load = bytes_[link];
      if (load == 0) touched_.push_back(link);
      load += bytes;
    }
  }
  /// Of the busiest link on the route.
  double seconds(const Wires& wires, const WirePath& path, double share) const {
    double longest = 0;
    for (const int link : path.each()) longest = std::max(longest, bytes_[link] / (wires.rate(link) * share));
    return longest;
  }
  void clear() {
    for (const int link : touched_) bytes_[link] = 0;
    touched_.clear();
  }

 private:
  std::vector<double> bytes_;
  std::vector<int> touched_;
};

/// A transfer list that is read phase by phase.
struct Cursor {
  std::size_t begin = 0, end = 0;
};

int rank_of(const PlacedList& list, int member) { return list.ranks[member]; }

WirePath way_of(const Wires& wires, const HopLatencies& hops, const PlacedList& list, const Transfer& t) {
  return wires.way(rank_of(list, t.from), rank_of(list, t.to), hops);
}

bool have_equal_phases(OpKind kind) {
  return kind == OpKind::all_reduce || kind == OpKind::all_gather || kind == OpKind::reduce_scatter;
}

double ring_seconds(const Wires& wires, const HopLatencies& hops, OpKind kind, std::span<const std::vector<int>> groups,
                    std::int64_t elements, double share) {
  Loads loads(wires.links());
  const auto n = groups.front().size();
  const double bytes = static_cast<double>(elements) / static_cast<double>(n);
  const auto edge = [&](const std::vector<int>& group, std::size_t i) {
    return wires.way(group[i], group[(i + 1) % group.size()], hops);
  };
  for (const auto& group : groups)
    for (std::size_t i = 0; i < group.size(); ++i) loads.add(edge(group, i), bytes);
  std::vector<RingEdge> edges;
  for (std::size_t i = 0; i < n; ++i) {
    const WirePath path = edge(groups.front(), i);
    edges.push_back({loads.seconds(wires, path, share), path.latency});
  }
  return ring_phases_seconds(edges, (kind == OpKind::all_reduce ? 2 : 1) * (static_cast<int>(n) - 1));
}

}  // namespace

double laid_out_seconds(const Wires& wires, const HopLatencies& hops, std::span<const PlacedList> lists,
                        std::size_t own, double share) {
  Loads loads(wires.links());
  std::vector<Cursor> cursors(lists.size());
  std::vector<std::vector<double>> clocks, next;  // [own list][member]
  for (std::size_t i = 0; i < own; ++i) clocks.emplace_back(lists[i].ranks.size(), 0);
  next = clocks;
  for (bool left = true; left;) {
    left = false;
    int phase = -1;  // the next phase of any list
    for (std::size_t i = 0; i < lists.size(); ++i)
      if (const std::size_t at = cursors[i].begin = cursors[i].end; at < lists[i].transfers.size())
        phase = phase < 0 ? lists[i].transfers[at].phase : std::min(phase, lists[i].transfers[at].phase);
    for (std::size_t i = 0; i < lists.size(); ++i) {
      const auto& transfers = lists[i].transfers;
      for (std::size_t& at = cursors[i].end; at < transfers.size() && transfers[at].phase == phase; ++at) {
        loads.add(way_of(wires, hops, lists[i], transfers[at]),
                  static_cast<double>(transfers[at].elements) * lists[i].element_bytes);
        left = true;
      }
    }
    for (std::size_t i = 0; i < own; ++i) {
      for (std::size_t at = cursors[i].begin; at < cursors[i].end; ++at) {
        const Transfer& t = lists[i].transfers[at];
        const WirePath path = way_of(wires, hops, lists[i], t);
        const auto from = static_cast<std::size_t>(t.from), to = static_cast<std::size_t>(t.to);
        const double left_at = clocks[i][from] + loads.seconds(wires, path, share);
        next[i][from] = std::max(next[i][from], left_at);
        next[i][to] = std::max(next[i][to], left_at + path.latency);
      }
      clocks[i] = next[i];
    }
    loads.clear();
  }
  double last = 0;
  for (const auto& of_list : clocks)
    for (const double clock : of_list) last = std::max(last, clock);
  return last;
}

std::vector<std::vector<int>> concurrent_groups(const RankGrid& grid, std::span<const int> members,
                                                const Wires& wires) {
  std::vector<std::vector<int>> groups{{members.begin(), members.end()}};
  const int widest = wires.devices_of_widest();
  for (const GroupKind kind :
       {GroupKind::tensor, GroupKind::data, GroupKind::pipeline, GroupKind::embedding, GroupKind::model}) {
    if (members.empty() || grid.is_server(members.front()) || grid.group_of(members.front(), kind) != groups.front())
      continue;
    // Each rank in the members' units belongs to one group, which is created once: grids have many thousands.
    std::set<int> known(members.begin(), members.end()), units;
    for (const int member : members)
      if (units.insert(member / widest).second)
        for (int rank = member / widest * widest; rank < std::min((member / widest + 1) * widest, grid.workers());
             ++rank)
          if (!known.contains(rank)) {
            std::vector<int> group = grid.group_of(rank, kind);
            known.insert(group.begin(), group.end());
            if (group.size() > 1) groups.push_back(std::move(group));
          }
    break;
  }
  return groups;
}

// A chain of phases may stay on an edge, or move to the next edge after the latency of the current one. The reference
// chain stays on the slowest edge. A run over other edges adds their latencies, and saves time because they are faster.
// So the longest chain is the reference plus the greatest gain of a run of at most this many edges. If a whole round
// gains nothing, the best run is no longer than a round, and is found in two rounds (Kadane); else with prefix sums
// in a sliding window.
double ring_phases_seconds(std::span<const RingEdge> edges, int phases) {
  const auto n = edges.size();
  double slowest = 0;
  bool all_equal = true;
  for (const RingEdge& edge : edges) {
    slowest = std::max(slowest, edge.seconds);
    all_equal = all_equal && edge.seconds == edges.front().seconds && edge.latency == edges.front().latency;
  }
  if (all_equal) return phases * (slowest + edges.front().latency);
  const auto gain_of = [&](const RingEdge& edge) { return edge.latency - (slowest - edge.seconds); };
  double round = 0;
  for (const RingEdge& edge : edges) round += gain_of(edge);
  double gain = 0;
  if (round <= 0) {
    double run = 0;
    for (int twice = 0; twice < 2; ++twice)
      for (const RingEdge& edge : edges) gain = std::max(gain, run = std::max(0.0, run + gain_of(edge)));
    return phases * slowest + gain;
  }
  const std::size_t most = static_cast<std::size_t>(phases), count = n + most + 1;
  std::vector<double> prefix(count, 0);
  for (std::size_t i = 1; i < count; ++i) prefix[i] = prefix[i - 1] + gain_of(edges[(i - 1) % n]);
  std::vector<std::size_t> least(count);  // of the window, ascending: [head, tail)
  std::size_t head = 0, tail = 0;
  for (std::size_t end = 0; end < count; ++end) {
    while (tail > head && prefix[least[tail - 1]] >= prefix[end]) --tail;
    least[tail++] = end;
    while (least[head] + most < end) ++head;
    gain = std::max(gain, prefix[end] - prefix[least[head]]);
  }
  return phases * slowest + gain;
}

double algorithm_seconds(const Wires& wires, const HopLatencies& hops, OpKind kind, Algorithm algorithm,
                         std::span<const std::vector<int>> groups, std::int64_t elements, double share) {
  if (groups.front().size() < 2) return 0;
  if (algorithm == Algorithm::ring && have_equal_phases(kind))
    return ring_seconds(wires, hops, kind, groups, elements, share);
  const auto n = static_cast<int>(groups.front().size());
  if (has_parts(kind)) elements = (elements + n - 1) / n * n;  // lists have equal parts
  const std::vector<Transfer> list = transfers_of(kind, algorithm, n, elements);
  std::vector<PlacedList> lists;
  for (const auto& group : groups) lists.push_back({list, group});
  return laid_out_seconds(wires, hops, lists, 1, share);
}

}  // namespace rankscope
