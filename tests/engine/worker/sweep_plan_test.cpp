// The points of a sweep, which of them can run, and on which clock.
#include <thread>

#include "engine/worker/sweep.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

using namespace rankscope;

namespace {

SweepRequest over(const std::vector<std::string>& axes, const std::string& lab = "data-parallel") {
  SweepRequest request;
  request.scenario = test::source_folder() + "/scenarios/labs/" + lab + ".toml";
  request.over = axes;
  return request;
}

std::string refusal(const SweepRequest& request) {
  try {
    plan_sweep(request);
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return "";
}

std::vector<int> batches(const SweepPlan& plan) {
  std::vector<int> all;
  for (const auto& scenario : plan.scenarios) all.push_back(scenario ? scenario->train.global_batch : 0);
  return all;
}

}  // namespace

TEST_CASE("under strong scaling all points have the scenario's batch, under weak it grows from the first point's") {
  SweepRequest request = over({"plan.data=1,2,4"});
  CHECK(batches(plan_sweep(request)) == std::vector<int>{32, 32, 32});
  request.weak = true;
  CHECK(batches(plan_sweep(request)) == std::vector<int>{32, 64, 128});
  request.over = {"plan.data=4,2,1"};
  CHECK(batches(plan_sweep(request)) == std::vector<int>{32, 16, 8});
  CHECK(plan_sweep(request).sweep.points[0].tokens_per_step == 32 * 64);
}

TEST_CASE("an invalid point keeps its place and its reason, and the others can run") {
  const SweepPlan plan = plan_sweep(over({"plan.pipeline=1,9,2", "plan.micro_batches=4,5"}, "pipeline-1f1b"));
  REQUIRE(plan.sweep.points.size() == 6);
  std::vector<bool> can_run;
  for (const auto& scenario : plan.scenarios) can_run.push_back(scenario.has_value());
  CHECK(can_run == std::vector<bool>{true, false, false, false, true, false});
  CHECK_THAT(plan.sweep.points[2].refused, ContainsText("plan.pipeline=9: 8 layers cannot be split over 9 stages"));
  CHECK_THAT(plan.sweep.points[1].refused, ContainsText("plan.micro_batches=5: "));
  CHECK(plan.sweep.points[2].ranks == 9);
  for (const SweepPoint& point : plan.sweep.points) CHECK(point.refused.find("--set") == std::string::npos);
}

TEST_CASE("under weak scaling a batch that is not a whole number of samples is refused at its point") {
  SweepRequest request = over({"plan.data=4,3,1"});
  request.weak = true;
  request.set = {{"train.global_batch", "6"}, {"plan.micro_batches", "1"}};
  const std::string line = refusal(request);
  INFO(line);
  CHECK_THAT(line, ContainsText("none of the 3 points can run"));
  request.set[0].value = "20";  // 20 on 4 ranks means 15 on 3 and 5 on one
  CHECK(batches(plan_sweep(request)) == std::vector<int>{20, 15, 5});
  request.set[0].value = "4";
  request.over = {"plan.data=2,1,3", "plan.micro_batches=1"};
  request.set.pop_back();
  CHECK(batches(plan_sweep(request)) == std::vector<int>{4, 2, 6});
  request.set[0].value = "4";
  request.over = {"plan.pipeline=8,1"};
  request.set.push_back({"plan.data", "1"});
  const SweepPlan plan = plan_sweep(request);
  CHECK_THAT(plan.sweep.points[1].refused, ContainsText("no whole number on 1"));
}

TEST_CASE("all points use one clock: the wall clock only if the largest point has a core for every rank's threads") {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  SweepRequest request = over({"plan.data=1"});
  CHECK(plan_sweep(request).sweep.clock == ClockDomain::wall);
  request.run.threads = cores + 1;
  CHECK(plan_sweep(request).sweep.clock == ClockDomain::device);
  request.run.device = "sleep";
  CHECK(plan_sweep(request).sweep.clock == ClockDomain::wall);
  request = over({"plan.pipeline=1," + std::to_string(cores + 1)}, "pipeline-1f1b");
  request.set = {{"model.layers", std::to_string(2 * cores + 2)}};
  CHECK(plan_sweep(request).sweep.clock == ClockDomain::device);
  request.run.clock = "wall";
  CHECK(plan_sweep(request).sweep.clock == ClockDomain::wall);
}

TEST_CASE("a run of a sweep has the sweep's default number of steps unless it is given, and writes no checkpoints") {
  SweepRequest request = over({"plan.data=1,2"});
  CHECK(plan_sweep(request).sweep.steps == sweep_steps);
  request.set = {{"steps", "7"}, {"train.checkpoint_every", "2"}};
  const SweepPlan plan = plan_sweep(request);
  CHECK(plan.sweep.steps == 7);
  CHECK(plan.scenarios[1]->train.steps == 7);
  CHECK(plan.scenarios[1]->train.checkpoint_every == 0);
  request.steps = 9;
  CHECK(plan_sweep(request).sweep.steps == 9);
}

TEST_CASE("contradicting options are refused in one line, with the remedy") {
  struct Row {
    SweepRequest request;
    std::string begins, expected_text;
  };
  SweepRequest set = over({"data=1,2"}), weak = over({"train.global_batch=8,16"});
  set.set = {{"plan.data", "4"}};
  weak.weak = true;
  const std::vector<Row> rows{
      {over({}), "sweep: ", "--over plan.data=1,2,4"},
      {set, "--set plan.data=4: ", "remove one of them"},
      {weak, "--weak: ", "train.global_batch"},
      {over({"train.steps=1,2"}), "--over train.steps: ", "--steps"},
      {over({"train.checkpoint_every=1,2"}), "--over train.checkpoint_every: ", "no checkpoints"},
      {over({"plan.data=33"}), "--over: ", "the only point cannot run; plan.data=33: "},
      {over({"plan.data=33,34"}), "--over: ", "none of the 2 points can run; the first: plan.data=33: "},
      {over({"plan.data=1,two"}), "--over plan.data=1,two: ", "an integer"},
      {over({"plan.data=1"}, "nowhere"), "", "no such file"},
  };
  for (const Row& row : rows) {
    const std::string line = refusal(row.request);
    INFO(line);
    CHECK(!line.empty());
    CHECK(line.rfind(row.begins, 0) == 0);
    CHECK(line.find(row.expected_text) != std::string::npos);
    CHECK(line.find('\n') == std::string::npos);
  }
  std::string many = "data.seed=1";
  for (int i = 2; i <= 40; ++i) many += "," + std::to_string(i);
  std::string other = many;
  other.replace(0, 9, "train.seed");
  CHECK_THAT(refusal(over({many, other})), ContainsText("more than 1000 combinations"));
}
