#include "engine/predict/layout/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "engine/op/words.hpp"
#include "engine/plan/program/communication.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/network/link.hpp"

namespace rankscope::simulation {
namespace {

/// Open addressing from op id to node: one rank's communication ops. Programs have up to a million of them, and a node
/// per entry on the heap would cost more than the whole layout.
class IdTable {
 public:
  explicit IdTable(std::size_t entries) : slots_(std::bit_ceil(2 * entries + 1)) {}
  /// False if the id already exists.
  bool insert(OpId id, Node node) {
    for (std::size_t at = home(id);; at = next(at)) {
      if (slots_[at].node == nobody) {
        slots_[at] = {id, node};
        return true;
      }
      if (slots_[at].id == id) return false;
    }
  }
  Node find(OpId id) const {
    for (std::size_t at = home(id);; at = next(at))
      if (slots_[at].node == nobody || slots_[at].id == id) return slots_[at].node;
  }

 private:
  struct Slot {
    OpId id;
    Node node = nobody;
  };
  std::size_t home(OpId id) const {
    return static_cast<std::size_t>((id.value() * 0x9E3779B97F4A7C15ull) >> 20) & (slots_.size() - 1);
  }
  std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
  std::vector<Slot> slots_;
};

[[noreturn]] void refuse(const Graph& graph, Node node, const std::string& why) {
  throw std::invalid_argument(fmt::format("rank {}, {}: {}", graph.rank_of(node), to_token(graph.op(node).id), why));
}

void flatten(Graph& graph) {
  const auto& programs = *graph.programs;
  std::size_t nodes = 0, edges = 0, previous = 0;
  for (const RankProgram& program : programs) {
    nodes += program.ops.size();
    for (const Op& op : program.ops) {
      edges += op.after.size();
      previous += op.after_previous.size();
    }
  }
  graph.lane.reserve(nodes);
  graph.after.begin.reserve(nodes + 1);
  graph.after.items.reserve(edges);
  graph.after_previous.begin.reserve(nodes + 1);
  graph.after_previous.items.reserve(previous);
  graph.first.push_back(0);
  std::vector<Node> by_lane[lane_count];
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    const Node base = graph.first.back();
    for (auto& nodes_of_lane : by_lane) nodes_of_lane.clear();
    for (const Op& op : programs[rank].ops) {
      const auto lane = static_cast<std::size_t>(op.lane());
      const auto node = static_cast<Node>(graph.lane.size());
      by_lane[lane].push_back(node);
      graph.lane.push_back(static_cast<LaneNumber>(rank * lane_count + lane));
      for (const OpIndex before : op.after) graph.after.items.push_back(base + before);
      for (const OpIndex before : op.after_previous) graph.after_previous.items.push_back(base + before);
      graph.after.close_row();
      graph.after_previous.close_row();
      for (const auto* list : {&op.after, &op.after_previous})
        for (const OpIndex before : *list)
          if (before >= programs[rank].ops.size()) refuse(graph, node, "depends on an op that does not exist");
    }
    for (const auto& nodes_of_lane : by_lane) {
      graph.lanes.items.insert(graph.lanes.items.end(), nodes_of_lane.begin(), nodes_of_lane.end());
      graph.lanes.close_row();
    }
    graph.first.push_back(static_cast<Node>(graph.lane.size()));
  }
}

void join_message(Graph& graph, Node send, const std::vector<IdTable>& tables) {
  const Op& op = graph.op(send);
  if (op.peer < 0 || static_cast<std::size_t>(op.peer) >= graph.ranks()) refuse(graph, send, "its peer is no rank");
  const OpId there = counterpart(op.id);
  const Node receive = tables[op.peer].find(there);
  const std::string peer = fmt::format("rank {}", op.peer);
  if (receive == nobody) refuse(graph, send, "no " + to_token(there) + " in " + peer + "'s program");
  const Op& other = graph.op(receive);
  if (other.peer != static_cast<int>(graph.rank_of(send)))
    refuse(graph, send, fmt::format("{}'s {} wants rank {}", peer, to_token(there), other.peer));
  const std::int64_t sent = (*graph.programs)[graph.rank_of(send)].payload_bytes(op);
  const std::int64_t expected = (*graph.programs)[graph.rank_of(receive)].payload_bytes(other);
  if (sent != expected)
    refuse(graph, send, fmt::format("sends {}, {} expects {}", counted(sent, "byte"), peer, expected));
  graph.members.items.insert(graph.members.items.end(), {send, receive});
}

void join_collective(Graph& graph, Node node, const std::vector<int>& group, const std::vector<IdTable>& tables) {
  for (const int member : group) {
    if (static_cast<std::size_t>(member) >= graph.ranks())
      refuse(graph, node, fmt::format("there is no program of rank {}", member));
    const Node theirs = tables[member].find(graph.op(node).id);
    if (theirs == nobody || graph.op(theirs).group != graph.op(node).group)
      refuse(graph, node, fmt::format("rank {} of its group has no such op", member));
    graph.members.items.push_back(theirs);
    const auto n = static_cast<int>(group.size());
    const std::int64_t mine = whole_bytes((*graph.programs)[graph.rank_of(node)], graph.op(node), n);
    const std::int64_t other = whole_bytes((*graph.programs)[graph.rank_of(theirs)], graph.op(theirs), n);
    if (mine != other)
      refuse(graph, node, fmt::format("moves {}, on rank {} {}", counted(mine, "byte"), member, other));
  }
}

void join(Graph& graph, const RankGrid& grid) {
  graph.exchange.assign(graph.nodes(), nobody);
  std::vector<IdTable> tables;
  for (std::size_t rank = 0; rank < graph.ranks(); ++rank) {
    const auto& ops = (*graph.programs)[rank].ops;
    std::size_t communications = 0;
    for (const Op& op : ops) communications += is_communication(op.id.kind());
    IdTable& table = tables.emplace_back(communications);
    for (OpIndex i = 0; i < ops.size(); ++i)
      if (is_communication(ops[i].id.kind()) && !table.insert(ops[i].id, graph.first[rank] + i))
        refuse(graph, graph.first[rank] + i, "this id appears twice in the program");
  }
  for (std::size_t rank = 0; rank < graph.ranks(); ++rank) {
    std::vector<int> groups[group_kind_count];
    for (int kind = 0; kind < group_kind_count; ++kind)
      groups[kind] = grid.group_of(static_cast<int>(rank), static_cast<GroupKind>(kind));
    for (Node node = graph.first[rank]; node < graph.first[rank + 1]; ++node) {
      const Op& op = graph.op(node);
      const OpKind kind = op.id.kind();
      if (kind == OpKind::send) {
        join_message(graph, node, tables);
      } else if (is_collective(kind)) {
        const auto& group = groups[static_cast<std::size_t>(op.group)];
        if (group.front() != static_cast<int>(rank)) continue;  // the first member represents the group
        join_collective(graph, node, group, tables);
      } else {
        continue;
      }
      for (std::size_t i = graph.members.begin.back(); i < graph.members.items.size(); ++i)
        graph.exchange[graph.members.items[i]] = static_cast<Exchange>(graph.members.size());
      graph.members.close_row();
    }
  }
  for (Node node = 0; node < graph.nodes(); ++node) {
    const Op& op = graph.op(node);
    if (graph.exchange[node] != nobody || !is_communication(op.id.kind())) continue;
    if (op.id.kind() == OpKind::receive)
      refuse(graph, node, fmt::format("no {} in rank {}'s program", to_token(counterpart(op.id)), op.peer));
    refuse(graph, node, "the first rank of its group has no such op");
  }
}

}  // namespace

std::string Graph::place(LaneNumber number) const {
  return fmt::format("rank {} ({})", number / lane_count, name_of(static_cast<Lane>(number % lane_count)));
}

Graph make_graph(const std::vector<RankProgram>& programs, const RankGrid& grid) {
  if (static_cast<int>(programs.size()) != grid.size())
    throw std::invalid_argument(
        fmt::format("there are {} for {}", counted(programs.size(), "program"), counted(grid.size(), "rank")));
  Graph graph;
  graph.programs = &programs;
  flatten(graph);
  join(graph, grid);
  return graph;
}

std::vector<std::int64_t> transfer_costs(const Graph& graph, const Costs& costs) {
  std::vector<std::int64_t> transfer;
  transfer.reserve(graph.members.size());
  std::vector<int> ranks;
  for (std::size_t exchange = 0; exchange < graph.members.size(); ++exchange) {
    const auto members = graph.members[exchange];
    const auto rank = static_cast<int>(graph.rank_of(members[0]));
    const Op& op = graph.op(members[0]);
    const std::int64_t payload = contribution_bytes((*graph.programs)[rank], op, static_cast<int>(members.size()));
    if (op.id.kind() == OpKind::send) {
      transfer.push_back(costs.link ? costs.link(rank, op.peer).transfer_ns(payload) : 0);
      continue;
    }
    ranks.clear();
    for (const Node member : members) ranks.push_back(static_cast<int>(graph.rank_of(member)));
    if (ranks.size() < 2)
      transfer.push_back(0);
    else if (costs.collective_ns)
      transfer.push_back(costs.collective_ns(op.id.kind(), ranks, payload));
    else
      transfer.push_back(costs.link ? ring_ns(op.id.kind(), ranks, payload, costs.link) : 0);
  }
  return transfer;
}

}  // namespace rankscope::simulation
