#include <algorithm>

#include "engine/search/search.hpp"

namespace rankscope {
namespace {

std::vector<int> divisors(int n) {
  std::vector<int> found;
  for (int d = 1; d <= n; ++d)
    if (n % d == 0) found.push_back(d);
  return found;
}

struct Placement {
  std::string schedule;
  int chunks;  ///< a stage
};

struct Recomputation {
  const char* what;
  int blocks;  ///< together
};
constexpr Recomputation recomputations[] = {{"none", 1},   {"selective", 1}, {"blocks", 1},
                                            {"blocks", 2}, {"blocks", 4},    {"sqrt", 1}};

/// The schedules that a pipeline of that shape can run.
std::vector<Placement> placements(int pipeline, int micro_batches, int layers) {
  if (pipeline == 1) return {{"1f1b", 1}};
  std::vector<Placement> found = {{"gpipe", 1}, {"1f1b", 1}, {"zb-h1", 1}, {"zb-h2", 1}};
  if (layers >= 2 * pipeline) found.push_back({"zb-v", 2});
  if (micro_batches % pipeline == 0)
    for (int v = 2; v * pipeline <= layers; ++v)
      if (layers % (v * pipeline) == 0) found.push_back({"interleaved", v});
  return found;
}

}  // namespace

std::vector<PlanSpec> all_plans(const Scenario& scenario) {
  const int ranks = scenario.plan.ranks(), batch = scenario.train.global_batch;
  std::vector<PlanSpec> plans;
  for (const int tensor : divisors(ranks)) {
    if (tensor > scenario.cluster.devices_per_node || scenario.model.heads % tensor != 0) continue;
    for (const int pipeline : divisors(ranks / tensor)) {
      const int data = ranks / tensor / pipeline;
      if (pipeline > scenario.model.layers || batch % data != 0) continue;
      for (const int micro_batches : divisors(batch / data)) {
        if (micro_batches > 65535) continue;
        for (const Placement& placement : placements(pipeline, micro_batches, scenario.model.layers))
          for (const int zero : {0, 1, 2, 3})
            for (const Recomputation& recomputation : recomputations)
              for (const bool parallel : {false, true}) {
                if ((zero > 0 && data == 1) || (parallel && tensor == 1)) continue;
                // Groups of more blocks than a chunk has are groups of a chunk.
                if (recomputation.blocks > std::max(1, scenario.model.layers / (pipeline * placement.chunks))) continue;
                PlanSpec plan = scenario.plan;
                plan.tensor = tensor;
                plan.pipeline = pipeline;
                plan.data = data;
                plan.micro_batches = micro_batches;
                plan.schedule = placement.schedule;
                plan.virtual_stages = placement.chunks;
                plan.stages = "even";
                plan.order.clear();
                plan.zero = zero;
                plan.recompute = recomputation.what;
                plan.recompute_blocks = recomputation.blocks;
                plan.sequence_parallel = parallel;
                plans.push_back(std::move(plan));
              }
      }
    }
  }
  return plans;
}

std::string short_name(const PlanSpec& plan, int global_batch) {
  const auto part = [](const char* letter, int value) { return letter + std::to_string(value) + " "; };
  std::string text = part("t", plan.tensor) + part("p", plan.pipeline) + part("d", plan.data);
  if (plan.virtual_stages > 1) text += part("v", plan.virtual_stages);
  text += plan.schedule + " " + part("m", plan.micro_batches) +
          part("b", global_batch / (plan.data * plan.micro_batches)) + part("zero", plan.zero);
  text += "recompute " + plan.recompute;
  if (plan.recompute_blocks > 1) text += " by " + std::to_string(plan.recompute_blocks);
  return plan.sequence_parallel ? text + " sp" : text;
}

}  // namespace rankscope
