#include "engine/explain/facts/laid_out_trials.hpp"

#include <algorithm>

#include "engine/plan/program/compile.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/predict/search/plan_space.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

using namespace rankscope;

namespace {

Scenario trial_lab(const char* name, const std::vector<Override>& overrides) {
  return read_scenario(test::source_folder() + "/scenarios/labs/" + name, overrides);
}

Scenario small_laptop() {
  return trial_lab("pipeline-1f1b.toml", {parse_override("pipeline=2"), parse_override("layers=2"),
                                          parse_override("micro_batches=2"), parse_override("global_batch=4")});
}

}  // namespace

TEST_CASE("plans of a laptop are laid out one by one, and what a search says of each is its prediction") {
  const Scenario s = small_laptop();
  const PlanTrials trials = trials_of(s);
  CHECK(trials.judged == "simulated op by op");
  PlanSearch how;
  how.threads = 2;
  how.keep = 3;
  const PlanSearchReport report = search_plans(trials, how);
  CHECK(report.tried == trials.plans.size());
  REQUIRE(report.best.size() == 3);
  std::size_t checked = 0;
  for (const PlanPoint& point : report.points) {
    Scenario one = s;
    one.plan = with_values(s.plan, report.knobs, point.values);
    if (++checked % 5 != 0) continue;
    const Report predicted = predict_step(compile(one));
    CHECK(point.seconds == Approx(predicted.step_seconds));
    double peak = 0, sum = 0;
    for (const MemoryRow& row : predicted.memory) peak = std::max(peak, static_cast<double>(row.predicted->peak));
    for (const double part : point.parts) sum += part;
    CHECK(point.bytes == peak);
    CHECK(sum == Approx(point.seconds));
  }
  CHECK(checked > 20);
}

TEST_CASE("a laptop with little memory has plans that do not fit it") {
  Scenario s = small_laptop();
  const PlanSearch how{Strategy::exhaustive, {}, 1, 2};
  const PlanSearchReport all = search_plans(laid_out_trials(s), how);
  const PlanPoint& fastest = all.points[all.best.front()];
  s.cluster.memory_bytes = 0.9 * fastest.bytes;
  const PlanSearchReport less = search_plans(laid_out_trials(s), how);
  CHECK(less.out_of_memory > 0);
  CHECK(less.out_of_memory < less.tried);
  CHECK(less.points[less.best.front()].bytes <= s.cluster.memory_bytes);
}

TEST_CASE("a resnet's plans have no tensor ranks, and those that it can have are laid out") {
  const PlanTrials trials = trials_of(trial_lab("resnet-two-devices.toml", {}));
  CHECK(trials.plans.size() > 10);
  for (const PlanSpec& plan : trials.plans) CHECK(plan.tensor == 1);
  CHECK(trials.make_judge()(trials.plans.front()).fate == Fate::fits);
}

TEST_CASE("plans of a described cluster are folded, and a main device is refused") {
  CHECK(trials_of(trial_lab("search-frontier.toml", {})).judged == "folded by symmetry");
  Scenario s = small_laptop();
  s.plan.data_parallel = DataParallel::main_device;
  CHECK_THROWS_WITH(trials_of(s), Catch::Contains("plan.data_parallel is 'main-device', not 'all-reduce'"));
}
