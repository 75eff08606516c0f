#include "engine/explain/analyse/observed_step.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "telemetry/event/time_range.hpp"

namespace rankscope {
namespace {

using Spans = std::vector<const Span*>;
using Nodes = std::vector<std::unordered_map<OpId, Node>>;  ///< [rank]

/// A rank's spans of the step by begin, each op once.
std::vector<Spans> by_rank(std::size_t ranks, const std::vector<Span>& spans, std::uint32_t number) {
  std::vector<Spans> result(ranks);
  for (const Span& span : spans)
    if (span.step == number && span.rank >= 0 && static_cast<std::size_t>(span.rank) < ranks)
      result[static_cast<std::size_t>(span.rank)].push_back(&span);
  for (Spans& own : result)
    std::stable_sort(own.begin(), own.end(), [](const Span* a, const Span* b) { return a->begin_ns < b->begin_ns; });
  return result;
}

void add_edges(Step& step, const Spans& own, Node first) {
  struct Last {
    std::int64_t end_ns = INT64_MIN;
    Node node = nobody;
  };
  std::array<Last, lane_slots> ended{};     // that ended before the op begins: the last one of each lane
  std::array<Last, lane_slots> previous{};  // of its own lane, even if it has not ended
  std::vector<Node> by_end(own.size());
  for (Node i = 0; i < by_end.size(); ++i) by_end[i] = i;
  std::sort(by_end.begin(), by_end.end(), [&](Node a, Node b) { return own[a]->end_ns < own[b]->end_ns; });
  std::size_t next = 0;
  for (Node i = 0; i < own.size(); ++i) {
    for (; next < by_end.size() && own[by_end[next]]->end_ns <= own[i]->begin_ns; ++next)
      ended[static_cast<std::size_t>(own[by_end[next]]->op.lane())] = {own[by_end[next]]->end_ns, by_end[next]};
    const auto lane = static_cast<std::size_t>(own[i]->op.lane());
    Last latest;
    for (std::size_t other = 0; other < lane_slots; ++other)
      if (other != lane && !is_on_host(static_cast<Lane>(other)) && ended[other].end_ns > latest.end_ns)
        latest = ended[other];
    if (!is_on_host(own[i]->op.lane()) && latest.node != nobody && latest.node < i &&
        latest.end_ns > previous[lane].end_ns)
      step.after.items.push_back(first + latest.node);
    previous[lane] = {std::max(previous[lane].end_ns, own[i]->end_ns), i};
    step.after.close_row();
    step.after_previous.close_row();
  }
}

/// Of the message, of the tensor, or of the whole of all members' parts; -1: unknown.
std::int64_t whole_of(const Step& step, const std::vector<Node>& members, const GivenBytes& given) {
  if (!given) return -1;
  const OpKind kind = step.ids[members.front()].kind();
  std::int64_t sum = 0;
  for (const Node member : members) {
    const std::int64_t bytes = given(static_cast<int>(step.rank_of(member)), step.ids[member]);
    // Parts may differ in size, so that they are added up. Others give the same; of a message only the sender gives.
    if (bytes < 0 || !gathers_parts(kind)) return bytes;
    sum += bytes;
  }
  return sum;
}

void join(Step& step, std::span<const StepFacts> facts, const Nodes& nodes, const GivenBytes& given) {
  step.exchange.assign(step.nodes(), nobody);
  const auto find = [&](int rank, OpId id) {
    if (rank < 0 || static_cast<std::size_t>(rank) >= nodes.size()) return nobody;
    const auto& of_rank = nodes[static_cast<std::size_t>(rank)];
    const auto found = of_rank.find(id);
    return found == of_rank.end() ? nobody : found->second;
  };
  for (std::size_t rank = 0; rank < step.ranks(); ++rank)
    for (Node node = step.first[rank]; node < step.first[rank + 1]; ++node) {
      const OpId id = step.ids[node];
      if (!is_communication(id.kind()) || id.kind() == OpKind::receive || step.exchange[node] != nobody) continue;
      const StepFacts::Group* group = facts[rank].group_of(id);
      if (group == nullptr || group->ranks.size() < 2) continue;
      const bool message = id.kind() == OpKind::send;
      std::vector<Node> members;
      for (const int member : group->ranks) {
        const Node there = find(member, message && member == group->ranks.back() ? counterpart(id) : id);
        if (there != nobody) members.push_back(there);
      }
      if (members.size() != group->ranks.size()) continue;
      for (const Node member : members) step.exchange[member] = static_cast<ExchangeIndex>(step.members.size());
      step.members.items.insert(step.members.items.end(), members.begin(), members.end());
      step.members.close_row();
      step.exchanges.emplace_back().bytes = whole_of(step, members, given);
    }
}

}  // namespace

Step observed_step(std::span<const StepFacts> facts, const std::vector<Span>& spans, std::uint32_t number,
                   const GivenBytes& given) {
  Step step;
  step.has_pipeline = false;  // unknown: idle time has no phase
  step.serves.assign(facts.size(), false);
  step.arrivals_ahead.assign(facts.size(), std::nullopt);
  for (const StepFacts& of_rank : facts) step.absent.push_back(of_rank.names.empty());
  Nodes nodes(facts.size());
  const std::vector<Spans> of_rank = by_rank(facts.size(), spans, number);
  for (std::size_t rank = 0; rank < of_rank.size(); ++rank) {
    const Node first = step.first.back();
    for (const Span* span : of_rank[rank]) {
      nodes[rank].emplace(span->op, static_cast<Node>(step.ids.size()));
      step.ids.push_back(span->op);
    }
    add_edges(step, of_rank[rank], first);
    step.first.push_back(static_cast<Node>(step.ids.size()));
  }
  join(step, facts, nodes, given);
  return step;
}

std::vector<double> awaited_seconds(const Step& linked, const std::vector<Span>& spans, std::uint32_t number) {
  std::vector<std::unordered_map<OpId, const Span*>> span_of(linked.ranks());
  for (const Span& span : spans)
    if (span.step == number && span.rank >= 0 && static_cast<std::size_t>(span.rank) < linked.ranks() &&
        is_collective(span.op.kind()))
      span_of[static_cast<std::size_t>(span.rank)].emplace(span.op, &span);
  struct Wait {
    std::size_t awaited = 0;
    std::int32_t waiting = 0;
    TimeRange time;
  };
  std::vector<Wait> found;
  std::vector<std::vector<TimeRange>> own(linked.ranks());  // [rank]: in which it waits itself
  for (std::size_t exchange = 0; exchange < linked.members.size(); ++exchange) {
    std::vector<const Span*> members;
    for (const Node member : linked.members[exchange]) {
      const auto& of_rank = span_of[linked.rank_of(member)];
      const auto at = of_rank.find(linked.ids[member]);
      if (at != of_rank.end()) members.push_back(at->second);
    }
    if (members.size() < 2 || members.size() != linked.members[exchange].size()) continue;
    const Span& last = **std::ranges::max_element(members, {}, [](const Span* span) { return span->begin_ns; });
    for (const Span* member : members) {
      if (member->rank == last.rank || member->begin_ns == last.begin_ns) continue;
      found.push_back({static_cast<std::size_t>(last.rank), member->rank, {member->begin_ns, last.begin_ns}});
      own[static_cast<std::size_t>(member->rank)].push_back(found.back().time);
    }
  }
  for (auto& ranges : own) std::ranges::sort(ranges, {}, &TimeRange::begin_ns);
  // While it waits for a third rank itself, it is not the one that is waited for. Collectives run beside each other, so
  // a rank's waits for another may overlap: each moment counts once.
  std::vector<std::map<std::int32_t, std::vector<TimeRange>>> waits(linked.ranks());  // [awaited][waiting]
  for (const Wait& wait : found) {
    std::vector<TimeRange>& to = waits[wait.awaited][wait.waiting];
    std::int64_t begin = wait.time.begin_ns;
    for (const TimeRange& busy : own[wait.awaited]) {
      if (busy.begin_ns >= wait.time.end_ns) break;
      if (busy.begin_ns > begin) to.push_back({begin, busy.begin_ns});
      begin = std::max(begin, busy.end_ns);
    }
    if (begin < wait.time.end_ns) to.push_back({begin, wait.time.end_ns});
  }
  std::vector<double> awaited(linked.ranks(), 0);
  for (std::size_t rank = 0; rank < waits.size(); ++rank) {
    std::int64_t sum = 0;
    for (auto& [waiting, ranges] : waits[rank]) {
      std::ranges::sort(ranges, {}, &TimeRange::begin_ns);
      std::int64_t covered = INT64_MIN;
      for (const TimeRange& range : ranges) {
        sum += std::max<std::int64_t>(range.end_ns - std::max(range.begin_ns, covered), 0);
        covered = std::max(covered, range.end_ns);
      }
    }
    if (!waits[rank].empty()) awaited[rank] = static_cast<double>(sum) * 1e-9 / static_cast<double>(waits[rank].size());
  }
  return awaited;
}

}  // namespace rankscope
