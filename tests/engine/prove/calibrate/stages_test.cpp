// Stages by the costs of their parts: counted op by op, modelled, and measured on this machine.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/plan/program/compile.hpp"
#include "engine/plan/scenario/check.hpp"
#include "engine/predict/cost/part_costs.hpp"
#include "engine/prove/calibrate/calibrate.hpp"
#include "engine/prove/calibrate/measured_stages.hpp"
#include "tests/catch.hpp"
#include "tests/engine/plan/model/greatest_chunk.hpp"

using namespace rankscope;

namespace {

Scenario scenario_of(int pipeline, int vocabulary, std::string schedule = "1f1b") {
  Scenario s;
  s.title = "stages";
  s.model = {"gpt", 8, 64, 4, 16, vocabulary, true, 0.0};
  s.plan.pipeline = pipeline;
  s.plan.schedule = std::move(schedule);
  s.plan.stages = "measured";
  s.plan.micro_batches = 4;
  s.train.global_batch = 8;
  s.cluster.peak_flops_fp32 = 1e10;
  s.cluster.memory_bandwidth = 1e10;
  s.cluster.op_overhead_s = 1e-6;
  s.cluster.inter_bandwidth = 1e10;
  return s;
}

/// Costs with 1 for every op and 100 for every collective.
Costs counting() {
  Costs costs;
  costs.compute_ns = [](const RankProgram&, const Op&) -> std::int64_t { return 1; };
  costs.link = [](int, int) { return Link{}; };
  costs.collective_ns = [](OpKind, std::span<const int>, std::int64_t) -> std::int64_t { return 100; };
  return costs;
}

PartCosts counted(const Scenario& scenario) { return cost_of_parts(compile(as_one_stage(scenario)), counting()); }

}  // namespace

TEST_CASE("the parts of a model are its forwards and backwards of one micro-batch, counted by hand") {
  SECTION("whole backwards: qkv, attention, projection, up and down, forward and backward") {
    const PartCosts parts = counted(scenario_of(4, 64));
    CHECK(parts.blocks == std::vector<double>(8, 10));
    CHECK(parts.first == 2);  // the embedding
    CHECK(parts.last == 2);   // the head
  }
  SECTION("split ones: attention has no weights, the embedding no input gradient") {
    const PartCosts parts = counted(scenario_of(4, 64, "zb-h1"));
    CHECK(parts.blocks == std::vector<double>(8, 5 + 5 + 4));
    CHECK(parts.first == 2);
    CHECK(parts.last == 3);
  }
  SECTION("what is computed again counts: of each block all but the last product") {
    Scenario s = scenario_of(4, 64);
    s.plan.recompute = "blocks";
    CHECK(counted(s).blocks == std::vector<double>(8, 10 + 4));
    s.plan.recompute_blocks = 2;  // one of two blocks repeats its last product
    CHECK(counted(s).blocks == std::vector<double>(8, 10 + 4.5));
  }
  SECTION("what tensor ranks exchange counts: four all-reduces a block, the embedding's, the head's two") {
    Scenario s = scenario_of(2, 64);
    s.plan.tensor = 2;
    const PartCosts parts = counted(s);
    CHECK(parts.blocks == std::vector<double>(8, 400 + 8 + 8));
    CHECK(parts.first == 100 + 2 + 2);
    CHECK(parts.last == 200 + 3 + 2);  // the loss has no separate backward
  }
}

/// The longer of two stages when the first has this many blocks; a list of stages minimises this.
double longest_stage(const PartCosts& parts, int blocks_of_first) {
  const auto cut = parts.blocks.begin() + blocks_of_first;
  return std::max(std::accumulate(parts.blocks.begin(), cut, parts.first),
                  std::accumulate(cut, parts.blocks.end(), parts.last));
}

TEST_CASE("a head with a large vocabulary takes layers off the last stage") {
  const SettledStages heavy = model_stages(scenario_of(2, 8192));  // the head costs about ten blocks
  CHECK(heavy.scenario.plan.stages == "7 1");
  CHECK_FALSE(heavy.measured);
  CHECK(heavy.seconds.last > 3 * heavy.seconds.blocks.front());
}

// Measurements depend on the machine's load: the list is checked against the costs reported with it.
TEST_CASE("measured or modelled stages are the most even ones by the reported costs") {
  const bool measured = GENERATE(true, false);
  const auto settle = [&](const Scenario& s) { return measured ? measure_stages(s) : model_stages(s); };
  const SettledStages heavy = settle(scenario_of(2, 8192));
  CHECK(heavy.measured == measured);
  const auto list = listed_layers(heavy.scenario.plan.stages);
  REQUIRE(list);
  REQUIRE(list->size() == 2);
  CHECK(list->front() + list->back() == 8);
  REQUIRE(heavy.seconds.blocks.size() == 8);
  CHECK(heavy.seconds.blocks.front() > 0);
  for (int blocks = 1; blocks < 8; ++blocks)
    CHECK(longest_stage(heavy.seconds, list->front()) <= longest_stage(heavy.seconds, blocks) * (1 + 1e-12));
  CHECK_FALSE(complaint_about_plan(heavy.scenario));
  CHECK_NOTHROW(compile(heavy.scenario));
  CHECK(to_text(heavy).find(measured ? "measured on this machine" : "figures of cluster 'laptop'") !=
        std::string::npos);
  // Other settings of the plan stay unchanged.
  Scenario sharing = scenario_of(2, 8192, "zb-h1");
  sharing.plan.data = 2;
  sharing.plan.zero = 2;
  sharing.plan.tensor = 2;
  sharing.train.global_batch = 16;
  const SettledStages settled = settle(sharing);
  REQUIRE(listed_layers(settled.scenario.plan.stages));
  sharing.plan.stages = settled.scenario.plan.stages;
  CHECK(settled.scenario.plan == sharing.plan);
  CHECK(settled.scenario.train == sharing.train);
}

TEST_CASE("a resnet's blocks differ, and its stages are cut by the cost of each") {
  Scenario s = scenario_of(2, 64);
  s.model = {.kind = "resnet", .layers = 8, .width = 8, .image = 64, .classes = 10};
  s.plan.micro_batches = 2;
  const bool measured = GENERATE(true, false);
  const SettledStages settled = measured ? measure_stages(s) : model_stages(s);
  const auto list = listed_layers(settled.scenario.plan.stages);
  REQUIRE(list);
  REQUIRE(settled.seconds.blocks.size() == 8);
  const auto [least, greatest] = std::minmax_element(settled.seconds.blocks.begin(), settled.seconds.blocks.end());
  CHECK(*greatest > 1.2 * *least);
  // The list uses costs rounded to twentieths of the mean block: with these no other split is better.
  const double mean = std::accumulate(settled.seconds.blocks.begin(), settled.seconds.blocks.end(), 0.0) / 8;
  PartCosts twentieths = settled.seconds;
  for (double& cost : twentieths.blocks) cost = std::round(20 * cost / mean);
  for (double* cost : {&twentieths.first, &twentieths.last}) *cost = std::round(20 * *cost / mean);
  for (int blocks = 1; blocks < 8; ++blocks)
    CHECK(greatest_chunk(twentieths, *list) <= greatest_chunk(twentieths, {blocks, 8 - blocks}));
  CHECK(to_text(settled).find("blocks take") != std::string::npos);
  CHECK(to_text(settled).find("classifier") != std::string::npos);
}

TEST_CASE("there are stages times virtual stages chunks, and one stage has all layers") {
  Scenario s = scenario_of(2, 64, "interleaved");
  s.plan.virtual_stages = 2;
  const auto layers = listed_layers(model_stages(s).scenario.plan.stages);
  REQUIRE(layers);
  CHECK(layers->size() == 4);
  CHECK(model_stages(scenario_of(1, 64)).scenario.plan.stages == "8");
  CHECK_NOTHROW(compile(model_stages(scenario_of(1, 64)).scenario));
}

TEST_CASE("unmeasured stages are refused, and so are more stages than layers") {
  CHECK_THROWS_WITH(compile(scenario_of(2, 64)), ContainsText("plan.stages: 'measured' becomes a list"));
  CHECK_THROWS_AS(model_stages(scenario_of(16, 64)), PlanError);
}

TEST_CASE("recomputation of grouped blocks is calibrated, including the last product of all but one") {
  Scenario s = scenario_of(1, 64);
  s.plan.stages = "even";
  s.plan.recompute = GENERATE("blocks", "sqrt", "selective");
  s.plan.recompute_blocks = s.plan.recompute == "blocks" ? GENERATE(1, 3) : 1;
  const StepProgram step = compile(s);
  const Costs costs = predict_costs(step);
  const RankProgram program = step.program_for(0);
  for (const Op& op : program.ops)
    if (is_model_compute(op.id.kind())) {
      INFO(to_token(op.id));
      CHECK(costs.compute_ns(program, op) > 0);
    }
}
