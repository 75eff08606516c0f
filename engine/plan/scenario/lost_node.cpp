#include "engine/plan/scenario/lost_node.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

#include "engine/op/words.hpp"

namespace rankscope {
namespace {

std::string place_of(const Scenario& scenario) {
  return fmt::format("cluster.lost_node = {}", scenario.cluster.lost_node);
}

/// Ranks [begin, end) of the plan were on the lost node.
struct LostRanks {
  int begin = 0, end = 0;
  int count() const { return end - begin; }
};

LostRanks lost_ranks(const Scenario& scenario) {
  const int per_node = std::max(1, scenario.cluster.devices_per_node), ranks = scenario.plan.ranks();
  const int begin = std::min(scenario.cluster.lost_node * per_node, ranks);
  return {begin, std::min(begin + per_node, ranks)};
}

/// Replicas, by number, that had ranks there.
std::set<int> lost_replicas(const Scenario& scenario) {
  const RankGrid grid = scenario.plan.grid();
  const LostRanks lost = lost_ranks(scenario);
  std::set<int> replicas;
  for (int rank = lost.begin; rank < lost.end; ++rank) replicas.insert(grid.coordinates_of(rank).data);
  return replicas;
}

void take_node_away(ClusterSpec& cluster) {
  cluster.lost_node = -1;
  if (cluster.nodes > 0) --cluster.nodes;
}

}  // namespace

std::optional<AfterLoss> after_lost_node(const Scenario& scenario) {
  if (scenario.cluster.lost_node < 0) return std::nullopt;
  const std::string place = place_of(scenario);
  if (scenario.plan.data_parallel != DataParallel::all_reduce)
    throw std::invalid_argument(place + ": with data_parallel = \"" + scenario.plan.data_parallel.name() +
                                "\" ranks of a data group are not alike, and what is left depends on which one it was");
  const LostRanks lost = lost_ranks(scenario);
  const int replicas = scenario.plan.data;
  AfterLoss after{scenario, static_cast<int>(lost_replicas(scenario).size()), replicas, lost.count()};
  const int left = replicas - after.replicas_lost;
  if (left == 0)
    throw std::invalid_argument(
        fmt::format("{}: every replica of the model has a rank on that node (data = {}), so nothing is left that could "
                    "go on. With a spare node all of it does (cluster.lost_node = -1){}",
                    place, replicas,
                    lost.count() < scenario.plan.ranks()
                        ? "; `rankscope-engine search` looks for plans of the " +
                              counted(scenario.plan.ranks() - lost.count(), "rank") + " on the other nodes"
                        : ""));
  after.scenario.train.global_batch = scenario.train.global_batch / replicas * left;
  after.scenario.plan.data = left;
  take_node_away(after.scenario.cluster);
  return after;
}

Scenario left_to_search(const Scenario& scenario) {
  if (scenario.cluster.lost_node < 0) return scenario;
  const int left = scenario.plan.ranks() - lost_ranks(scenario).count();
  const bool some_continue = static_cast<int>(lost_replicas(scenario).size()) < scenario.plan.data;
  if (some_continue || left == 0 || scenario.plan.data_parallel != DataParallel::all_reduce)
    return after_lost_node(scenario)->scenario;
  Scenario others = scenario;
  take_node_away(others.cluster);
  // A search keeps all values that no plan determines, and the product of these.
  others.plan.data = left;
  others.plan.tensor = others.plan.pipeline = others.plan.virtual_stages = others.plan.micro_batches = 1;
  others.plan.schedule = ScheduleKind::one_f_one_b;
  others.plan.stages = "even";
  others.plan.order.clear();
  return others;
}

std::string describe_after_loss(const AfterLoss& after, int node) {
  const std::string place = fmt::format("node {}", node);
  if (after.replicas_lost == 0) return place + " is lost, on which this plan has no rank";
  const PlanSpec& plan = after.scenario.plan;
  const bool one = after.replicas_lost == 1;
  std::string text =
      fmt::format("{} is lost, and with it {} of {}: {} {} on (plan.data = {}, train.global_batch = {})", place,
                  after.replicas_lost, counted(after.replicas_before, "replica"), counted(plan.ranks(), "rank"),
                  agreeing(plan.ranks(), "goes", "go"), plan.data, after.scenario.train.global_batch);
  if (const int idle = plan.ranks() / plan.data * after.replicas_lost - after.ranks_lost; idle > 0)
    text += ", and the other " + counted(idle, "rank") + " of " + (one ? "that replica" : "those replicas") + " " +
            std::string(agreeing(idle, "has", "have")) + " nothing to do";
  return text;
}

}  // namespace rankscope
