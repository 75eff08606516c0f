#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "engine/plan/scenario/keys.hpp"
#include "engine/plan/scenario/stage_split.hpp"
#include "engine/predict/search/search.hpp"

namespace rankscope {
namespace {

std::vector<int> divisors(int n) {
  std::vector<int> found;
  for (int d = 1; d <= n; ++d)
    if (n % d == 0) found.push_back(d);
  return found;
}

struct Placement {
  ScheduleKind schedule;
  int chunks;  ///< a stage
};

struct Recomputation {
  Recompute what;
  int blocks;  ///< in total
};

/// None, attention's scores, and all blocks in groups: for every possible number of groups the least group size, since
/// that needs the least memory.
std::vector<Recomputation> recomputations(int blocks) {
  std::vector<Recomputation> found = {{Recompute::none, 1}, {Recompute::selective, 1}};
  int groups = 0;
  for (int together = 1; together <= blocks; ++together) {
    if ((blocks + together - 1) / together == groups) continue;
    groups = (blocks + together - 1) / together;
    found.push_back({Recompute::blocks, together});
  }
  return found;
}

/// How layers are laid out: evenly, and with fewer on the last chunk, which has the head, if that makes a
/// difference.
std::vector<const char*> layouts(const Model& model, int chunks) {
  if (chunks == 1 || split_by_cost(model, chunks) == split_evenly(model, chunks)) return {"even"};
  return {"even", "cost"};
}

Model model_of(const Scenario& scenario, int tensor) {
  Scenario one = scenario;
  one.plan = PlanSpec{};
  one.plan.tensor = tensor;
  one.plan.precision = scenario.plan.precision;
  one.train.global_batch = 1;
  return make_model(one);
}

/// The schedules that a pipeline of that shape can run.
std::vector<Placement> placements(int pipeline, int micro_batches, int layers) {
  using enum ScheduleKind;
  if (pipeline == 1) return {{one_f_one_b, 1}};
  std::vector<Placement> found = {{naive, 1}, {gpipe, 1}, {one_f_one_b, 1}, {zb_h1, 1}, {zb_h2, 1}, {zb_2p, 1}};
  if (layers >= 2 * pipeline) found.push_back({zb_v, 2});
  // Also if layers do not divide evenly: then some chunks have one more.
  if (micro_batches % pipeline == 0)
    for (int v = 2; v * pipeline <= layers; ++v) found.push_back({interleaved, v});
  return found;
}

}  // namespace

std::vector<PlanSpec> all_plans(const Scenario& scenario) {
  if (scenario.model.is_collective())
    throw std::invalid_argument(
        "a single collective has no plans to search; set plan.collective, plan.data and model.bytes, and simulate "
        "each");
  const int ranks = scenario.plan.ranks(), batch = scenario.train.global_batch;
  std::vector<PlanSpec> plans;
  for (const int tensor : divisors(ranks)) {
    if (tensor > scenario.cluster.devices_per_node) continue;
    const ModelSpec& spec = scenario.model;
    if (spec.is_resnet() ? tensor > 1 : spec.heads % tensor != 0) continue;
    if (spec.kind == ModelKind::llama && (spec.heads_of_keys() % tensor != 0 || spec.mlp_width() % tensor != 0))
      continue;
    const Model model = model_of(scenario, tensor);
    std::map<int, std::vector<const char*>> layouts_of;  // chunks
    for (const int pipeline : divisors(ranks / tensor)) {
      const int data = ranks / tensor / pipeline;
      if (pipeline > scenario.model.layers || batch % data != 0) continue;
      for (const int micro_batches : divisors(batch / data)) {
        if (micro_batches > 65535) continue;
        for (const Placement& placement : placements(pipeline, micro_batches, scenario.model.layers)) {
          const int chunks = pipeline * placement.chunks;
          const auto [known, made] = layouts_of.try_emplace(chunks);
          if (made) known->second = layouts(model, chunks);
          PlanSpec plan = scenario.plan;
          plan.tensor = tensor;
          plan.pipeline = pipeline;
          plan.data = data;
          plan.micro_batches = micro_batches;
          plan.schedule = placement.schedule;
          plan.virtual_stages = placement.chunks;
          plan.order.clear();
          plan.weight_stashing = false;  // none of these schedules updates within a step
          for (const char* stages : known->second)
            for (const Recomputation& recomputation : recomputations((scenario.model.layers + chunks - 1) / chunks))
              for (const bool parallel : {false, true})
                for (const int zero : {0, 1, 2, 3}) {
                  if ((zero > 0 && data == 1) || (parallel && tensor == 1)) continue;
                  plan.stages = stages;
                  plan.zero = zero;
                  plan.recompute = recomputation.what;
                  plan.recompute_blocks = recomputation.blocks;
                  plan.sequence_parallel = parallel;
                  plans.push_back(plan);
                }
        }
      }
    }
  }
  return plans;
}

std::vector<std::string> settings_of(const PlanSpec& plan) {
  Scenario scenario;
  scenario.plan = plan;
  std::vector<std::string> settings;
  for (const char* name : {"data", "tensor", "pipeline", "virtual", "schedule", "stages", "micro_batches", "zero",
                           "recompute", "recompute_blocks", "sequence_parallel"})
    settings.push_back(name + ("=" + written(find_key(std::string("plan.") + name)->field(scenario))));
  return settings;
}

std::string short_name(const PlanSpec& plan, int global_batch) {
  const auto part = [](const char* letter, int value) { return fmt::format("{}{} ", letter, value); };
  std::string text = part("t", plan.tensor) + part("p", plan.pipeline) + part("d", plan.data);
  if (plan.virtual_stages > 1) text += part("v", plan.virtual_stages);
  text += plan.schedule.name() + " " + part("m", plan.micro_batches) +
          part("b", global_batch / (plan.data * plan.micro_batches)) + part("zero", plan.zero);
  text += "recompute " + plan.recompute.name();
  if (plan.recompute_blocks > 1) text += fmt::format(" by {}", plan.recompute_blocks);
  if (stage_split(plan) != StageSplit::even) text += " stages by " + plan.stages;
  return plan.sequence_parallel ? text + " sp" : text;
}

}  // namespace rankscope
