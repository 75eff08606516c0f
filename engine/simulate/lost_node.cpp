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
  const int left = grid.data - after.replicas_lost;
  if (left == 0)
    throw std::invalid_argument(
        place + ": every replica of the model has a rank on that node (data = " + std::to_string(grid.data) +
        "), so nothing is left that could go on; only a spare node helps");
  after.scenario.train.global_batch = scenario.train.global_batch / grid.data * left;
  after.scenario.plan.data = left;
  after.scenario.cluster.lost_node = -1;
  if (scenario.cluster.nodes > 0) --after.scenario.cluster.nodes;
  return after;
}

}  // namespace rankscope
