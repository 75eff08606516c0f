#include "engine/explain/facts/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/plan/scenario/read.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/fold/folded.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

using namespace rankscope;

namespace {

Scenario on_selene(int data, int tensor, int pipeline, int micro_batches) {
  Scenario s = parse_scenario("[cluster]\nspec = \"selene\"\n", test::source_folder() + "/scenarios/labs/x.toml");
  s.model = {"gpt", 32, 4096, 32, 2048, 51200, true, 0.1};
  s.plan.data = data;
  s.plan.tensor = tensor;
  s.plan.pipeline = pipeline;
  s.plan.micro_batches = micro_batches;
  s.plan.precision = "fp16";
  s.plan.recompute = "blocks";
  s.train.global_batch = data * micro_batches;
  return s;
}

/// The machine with this engine's software.
Scenario with_own_software(Scenario s) {
  s.cluster.software = {};
  return s;
}

}  // namespace

TEST_CASE("a large plan of identical ranks is folded, a small one is not, and both reports have the same content") {
  const StepProgram large = compile(on_selene(8, 8, 8, 64)), small = compile(with_own_software(on_selene(1, 2, 4, 8)));
  REQUIRE(is_folded(large));
  REQUIRE_FALSE(is_folded(small));
  for (const StepProgram* step : {&large, &small}) {
    const Report report = predict_step(*step);
    CHECK(report.folded == (step == &large));
    CHECK(report.time.sum() == Approx(1));
    CHECK(report.step_seconds > 0);
    CHECK(report.mfu > 0);
    // This engine does not recompute a block's last product; Megatron-LM repeats the whole forward.
    if (step == &large)
      CHECK(report.hfu / report.mfu == Approx(4.0 / 3).epsilon(0.03));
    else
      CHECK(report.hfu / report.mfu == Approx(1.22).epsilon(0.03));
    CHECK(report.steps.back().tokens_per_s ==
          Approx(step->scenario.train.global_batch * 2048 / report.steps.back().seconds));
    REQUIRE(report.device);
    CHECK(report.device->needed > report.device->context);
    int ranks = 0;
    for (const MemoryRow& row : report.memory) {
      REQUIRE(row.predicted);
      REQUIRE(row.predicted->at_peak);
      CHECK(device_sum(*row.predicted->at_peak) == row.predicted->peak);
      ranks += row.identical_ranks;
    }
    CHECK(ranks == step->grid.size());
    const auto json = to_json(report);
    double sum = 0;
    for (const auto& share : json["time"]) sum += share.get<double>();
    CHECK(sum == Approx(1));
    CHECK(json["device_memory"]["fits"].get<bool>());
    CHECK(to_text(report).find("device memory") != std::string::npos);
  }
}

TEST_CASE("a plan with its optimizer on the host, as in other software, is folded, however small") {
  Scenario s = on_selene(1, 1, 1, 4);
  s.plan.offload = "optimizer";
  CHECK_FALSE(predict_step(compile(s)).folded);
  s.cluster.software.host_gradients = true;
  const Report report = predict_step(compile(s));
  CHECK(report.folded);
  CHECK(std::any_of(report.traffic.begin(), report.traffic.end(),
                    [](const TrafficReport& row) { return row.purpose == Purpose::offload; }));
}

// Korthikanti et al. 2022, arXiv 2205.05198, table 1: s·b·h·(10 + 24/t + 5·a·s/(h·t)) bytes of activations per layer.
TEST_CASE("on a cluster with other software a small plan has that software's memory, and the same with more replicas") {
  Scenario s = on_selene(1, 8, 1, 1);
  s.model = {"gpt", 48, 6144, 64, 2048, 51200, true, 0.1};
  s.plan.recompute = "none";
  s.train.global_batch = 4;
  REQUIRE(s.cluster.software.attention == AttentionKernel::stored);
  const double per_layer = 2048.0 * 4 * 6144 * (10 + 24.0 / 8 + 5.0 * 64 * 2048 / (6144.0 * 8));
  const auto activations = [](const Scenario& of) {
    const Report report = predict_step(compile(of));
    return static_cast<double>(
        report.memory.front().predicted->by_class[static_cast<std::size_t>(MemoryClass::activations)]);
  };
  CHECK(activations(s) == Approx(48 * per_layer).epsilon(0.02));
  Scenario more = s;
  more.plan.data = 64;
  more.train.global_batch = 64 * 4;
  CHECK(activations(more) == activations(s));
  Scenario flash = s;
  flash.cluster.software.attention = AttentionKernel::flash;
  CHECK(activations(flash) == Approx(48 * 2048.0 * 4 * 6144 * (10 + 24.0 / 8)).epsilon(0.03));
}

TEST_CASE("folded and unfolded reports of one plan agree in time, in its parts and in memory") {
  const Scenario s = with_own_software(on_selene(1, 2, 4, 8));
  const StepProgram step = compile(s);
  const Report report = predict_step(step);
  REQUIRE_FALSE(report.folded);
  const FoldedStep folded = fold_step(s);
  CHECK(report.step_seconds == Approx(folded.seconds).epsilon(0.03));
  CHECK(report.time[TimeClass::compute] == Approx(folded.compute / folded.seconds).margin(0.03));
  CHECK(report.time[TimeClass::recompute] == Approx(folded.recompute / folded.seconds).margin(0.03));
  CHECK(report.time[TimeClass::tensor] == Approx(folded.tensor / folded.seconds).margin(0.03));
  CHECK(report.hfu == Approx(folded.hfu(s.cluster, DType::f16, 8)).epsilon(0.03));
}

TEST_CASE("a budget is tokens divided by tokens per second, and energy is that of all devices in that time") {
  const Scenario s = on_selene(8, 8, 8, 64);
  const Report report = predict_step(compile(s));
  const RunBudget budget = budget_of(report, s.cluster, 1e12);
  CHECK(budget.days * 86400 == Approx(1e12 / (512 * 2048) * report.step_seconds));
  CHECK(budget.joules == Approx(budget.days * 86400 * 400 * 512));
}

TEST_CASE("a plan of too many ops whose ranks differ is refused with the reason") {
  Scenario s = on_selene(64, 8, 8, 512);
  s.plan.recompute = "none";
  s.plan.data_parallel = "main-device";
  CHECK_THROWS_WITH(predict_step(compile(s)), ContainsText("data group are not identical"));
}

TEST_CASE("folded and unfolded reports of one plan have the same traffic") {
  for (const int zero : {0, 1, 3}) {
    Scenario s = parse_scenario("[cluster]\nspec = \"h100\"\n", test::source_folder() + "/scenarios/labs/x.toml");
    s.model = {"gpt", 8, 1024, 16, 512, 2048, true, 0.0};
    s.plan.precision = "bf16";
    s.plan.data = s.plan.tensor = 2;
    s.plan.pipeline = zero == 3 ? 1 : 2;
    s.plan.micro_batches = 4;
    s.plan.zero = zero;
    s.train.global_batch = 16;
    const Report report = predict_step(compile(s));
    const std::vector<FoldedTraffic> folded = fold_traffic(s);
    REQUIRE_FALSE(report.folded);
    CHECK(folded.size() >= 3);
    for (const FoldedTraffic& row : folded) {
      INFO("zero " << zero << ", " << name_of(row.purpose) << " " << name_of(row.kind));
      // Programs reduce in buckets, which are padded (the folded step reduces a stage at once), and repeat the gathers
      // that backward needs.
      double bytes = 0;
      for (const TrafficReport& other : report.traffic)
        if (other.purpose == row.purpose && other.collective == row.kind && other.group == row.group)
          bytes = other.predicted;
      CHECK(row.bytes_per_rank == Approx(bytes).epsilon(zero == 3 ? 0.15 : 0.05));
    }
    for (const TrafficReport& other : report.traffic) {
      if (other.purpose == Purpose::norm || other.predicted < 1e5) continue;
      INFO("zero " << zero << ", " << name_of(other.purpose));
      CHECK(std::any_of(folded.begin(), folded.end(),
                        [&](const FoldedTraffic& row) { return row.purpose == other.purpose; }));
    }
  }
}

TEST_CASE("a budget with failures takes longer by what they and checkpoints cost") {
  const Scenario s = on_selene(8, 8, 8, 64);
  const Report report = predict_step(compile(s));
  ClusterSpec cluster = s.cluster;
  CHECK(std::isnan(budget_of(report, cluster, 1e12).goodput));
  cluster.failure_hours = 50'000;
  cluster.checkpoint_seconds = 40;
  cluster.restart_seconds = 1800;
  const RunBudget budget = budget_of(report, cluster, 1e12);
  CHECK(budget.goodput < 1);
  CHECK(budget.days_with_failures == Approx(budget.days / budget.goodput));
  CHECK(budget.failures == Approx(budget.days_with_failures * 24 / (50'000.0 / 512)));
  CHECK(budget_of(report, cluster, 1e12, 10'000).goodput < budget.goodput);
}

TEST_CASE("a device that waits draws less, and a run's energy is its average") {
  const Report report = predict_step(compile(on_selene(8, 8, 8, 64)));
  ClusterSpec cluster = on_selene(8, 8, 8, 64).cluster;
  const double bubble = report.time[TimeClass::bubble];
  REQUIRE(bubble > 0.05);
  cluster.power_watts = 400;
  cluster.idle_watts = 0;  // not given: the same as a busy device
  const RunBudget busy = budget_of(report, cluster, 1e12);
  CHECK(busy.watts == Approx(400));
  CHECK(busy.joules == Approx(400 * 512 * busy.days * 86400));
  cluster.idle_watts = 100;
  const RunBudget waiting = budget_of(report, cluster, 1e12);
  CHECK(waiting.watts == Approx(400 - 300 * bubble));
  CHECK(waiting.joules / busy.joules == Approx(waiting.watts / 400));
}

TEST_CASE("the report after the loss of a node is that of the remaining replicas, and says what was lost") {
  Scenario s = on_selene(8, 8, 8, 64);
  const Report before = predict_scenario(s);
  CHECK_FALSE(before.lost);
  s.cluster.lost_node = 5;
  const Report after = predict_scenario(s);
  REQUIRE(after.lost);
  CHECK(after.lost->replicas == 1);
  CHECK(after.ranks == 7 * 64);
  CHECK(after.steps.back().tokens_per_s < 0.9 * before.steps.back().tokens_per_s);
  CHECK(after.lost->tokens_per_s_before == before.steps.back().tokens_per_s);
  CHECK(to_text(after).find("1 of 8 replicas") != std::string::npos);
  CHECK(to_json(after)["lost"]["replicas_before"] == 8);
}

TEST_CASE("a prediction is of a steady step that has a successor: without clipping, ranks run into the next step") {
  const std::string name = GENERATE(as<std::string>{}, "1f1b", "zb-h1", "zb-h2", "zb-2p", "zb-v");
  CAPTURE(name);
  Scenario s = parse_scenario("[cluster]\nspec = \"laptop\"\n", test::source_folder() + "/scenarios/labs/x.toml");
  s.plan.schedule = name;
  s.plan.pipeline = 4;
  s.plan.virtual_stages = name == "zb-v" ? 2 : 1;
  s.plan.micro_batches = s.train.global_batch = 8;
  s.model = {"gpt", 8, 64, 2, 64, 256, true, 0.0};
  s.train.clip = 0;
  const StepProgram step = compile(s);
  const auto programs = step.all_programs();
  const Costs costs = modelled_costs(s, step.model);
  const auto seconds_of = [&](int steps) {
    const Simulation simulation = simulate(programs, step.grid, costs, steps);
    return analyse_simulation(programs, step.grid, simulation).seconds();
  };
  const double predicted = seconds_of(predicted_steps(programs)), long_run = seconds_of(12);
  CHECK(predicted == Approx(long_run).epsilon(1e-3));
  if (name != "1f1b" && name != "zb-h1") CHECK(seconds_of(2) > 1.01 * long_run);  // the last step has no successor
}

TEST_CASE("shares of a folded plan are those of its report, as an analysis of all ranks together") {
  Scenario s = on_selene(8, 8, 8, 64);
  s.fault.slow_rank = 517;
  s.fault.slow_factor = 2;
  const Report report = predict_step(compile(s));
  REQUIRE(report.folded);
  REQUIRE(report.predicted);
  CHECK(report.predicted->seconds() == Approx(report.step_seconds));
  CHECK(report.predicted->average.sum() == Approx(1));
  CHECK(report.predicted->average[TimeClass::bubble] == report.time[TimeClass::bubble]);
  CHECK(report.predicted->ranks.empty());  // there are no values for single ranks
  REQUIRE(report.slow);
  CHECK(report.slow->rank == 517);
  CHECK(report.slow->factor == 2);
  CHECK_THAT(report.costs, ContainsText("cluster 'selene', not measured on this machine"));
}

TEST_CASE("the ideal bubble is the schedule's, folded or not, with recomputation or without") {
  for (const char* recompute : {"none", "blocks"})
    for (const int micro_batches : {8, 512}) {
      Scenario s = with_own_software(on_selene(1, 1, 8, micro_batches));
      s.plan.recompute = recompute;
      const StepProgram step = compile(s);
      const Report report = predict_step(step);
      INFO(recompute << ", folded " << report.folded);
      CHECK(report.folded == (micro_batches == 512));
      CHECK(report.bubble.ideal == Approx(7.0 / (micro_batches + 7)));
    }
}
