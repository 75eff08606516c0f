#include "engine/simulate/lost_node.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

namespace rankscope {

std::optional<AfterLoss> after_lost_node(const Scenario& scenario) {
  const int node = scenario.cluster.lost_node;
  if (node < 0) return std::nullopt;
  const std::string place = "cluster.lost_node = " + std::to_string(node);
  if (scenario.plan.data_parallel != "all-reduce")
    throw std::invalid_argument(place + ": with data_parallel = \"" + scenario.plan.data_parallel +
                                "\" ranks of a data group are not alike, and what is left depends on which one it was");
  const RankGrid grid = scenario.plan.grid();
  const int per_node = std::max(1, scenario.cluster.devices_per_node);
  std::set<int> lost;
  for (int rank = node * per_node; rank < std::min((node + 1) * per_node, grid.size()); ++rank)
    lost.insert(grid.coordinates_of(rank).data);

  AfterLoss after{scenario, static_cast<int>(lost.size()), grid.data};
  after.ranks_lost = std::max(0, std::min((node + 1) * per_node, grid.size()) - node * per_node);
  const int left = grid.data - after.replicas_lost;
  if (left == 0)
    throw std::invalid_argument(
        place + ": every replica of the model has a rank on that node (data = " + std::to_string(grid.data) +
        "), so nothing is left that could go on; only a spare node helps, or a plan of fewer ranks on the others "
        "(`rankscope-engine search`)");
  after.scenario.train.global_batch = scenario.train.global_batch / grid.data * left;
  after.scenario.plan.data = left;
  after.scenario.cluster.lost_node = -1;
  if (scenario.cluster.nodes > 0) --after.scenario.cluster.nodes;
  return after;
}

std::string what_is_left(const AfterLoss& after, int node) {
  const std::string place = "node " + std::to_string(node);
  if (after.replicas_lost == 0) return place + " is lost, on which this plan has no rank";
  const PlanSpec& plan = after.scenario.plan;
  const bool one = after.replicas_lost == 1;
  std::string text = place + " is lost, and with it " + std::to_string(after.replicas_lost) + " of " +
                     std::to_string(after.replicas_before) + " replicas: " + std::to_string(plan.ranks()) +
                     " ranks go on (plan.data = " + std::to_string(plan.data) +
                     ", train.global_batch = " + std::to_string(after.scenario.train.global_batch) + ")";
  if (const int idle = plan.ranks() / plan.data * after.replicas_lost - after.ranks_lost; idle > 0)
    text += ", and the other " + std::to_string(idle) + " ranks of " + (one ? "that replica" : "those replicas") +
            " have nothing to do";
  return text;
}

}  // namespace rankscope
