#include "engine/predict/layout/graph.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "engine/plan/program/communication.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/network/link.hpp"

namespace rankscope::simulation {

std::string Graph::place(LaneNumber number) const {
  return fmt::format("rank {} ({})", number / lane_count, name_of(static_cast<Lane>(number % lane_count)));
}

Graph make_graph(const std::vector<RankProgram>& programs, const RankGrid& grid) {
  std::vector<Unlinked> unlinked;
  Graph graph{link(programs, grid, &unlinked), &programs, {}, {}};
  graph.lane.reserve(graph.nodes());
  std::vector<Node> by_lane[lane_count];
  for (std::size_t rank = 0; rank < graph.ranks(); ++rank) {
    for (auto& nodes_of_lane : by_lane) nodes_of_lane.clear();
    for (Node node = graph.first[rank]; node < graph.first[rank + 1]; ++node) {
      const auto lane = static_cast<std::size_t>(graph.ids[node].lane());
      by_lane[lane].push_back(node);
      graph.lane.push_back(static_cast<LaneNumber>(rank * lane_count + lane));
    }
    for (const auto& nodes_of_lane : by_lane) {
      graph.lanes.items.insert(graph.lanes.items.end(), nodes_of_lane.begin(), nodes_of_lane.end());
      graph.lanes.close_row();
    }
  }
  if (!unlinked.empty())
    throw std::invalid_argument(fmt::format("rank {}, {}: {}", graph.rank_of(unlinked.front().node),
                                            to_token(graph.ids[unlinked.front().node]), unlinked.front().why));
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
