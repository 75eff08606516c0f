// The plan that continues training after the loss of a node.
#pragma once
#include <optional>
#include <string>

#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// A replica that had a rank on the lost node cannot continue. The others restart on the remaining nodes, each with
/// its own samples as before: the batch is smaller, and with ZeRO each has larger shards.
struct AfterLoss {
  Scenario scenario;      ///< of the remaining replicas, on a cluster without that node
  int replicas_lost = 0;  ///< 0: none of the plan's ranks was on the node
  int replicas_before = 0;
  int ranks_lost = 0;  ///< that were on the node
};

/// nullopt if the cluster has lost none (cluster.lost_node). Throws std::invalid_argument if every replica had a
/// rank there, and for plans with servers or a main device, which have ranks that no other can replace.
std::optional<AfterLoss> after_lost_node(const Scenario& scenario);

/// The scenario for a search of plans after the loss of a node: the result of after_lost_node; if that is nothing, the
/// ranks on all other nodes, with the complete batch, since another plan may still train on them. The scenario itself
/// if no node is lost. Throws std::invalid_argument if there is no other node.
Scenario left_to_search(const Scenario& scenario);

/// What continues, in one line with the keys that set it: "node 5 is lost, and with it 1 of 8 replicas: 448 ranks go on
/// (plan.data = 7, train.global_batch = 448), and the other 56 ranks of that replica have nothing to do". `node` is
/// cluster.lost_node.
std::string describe_after_loss(const AfterLoss& after, int node);

}  // namespace rankscope
