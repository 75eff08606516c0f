#include "engine/predict/search/search.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "engine/plan/scenario/check.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/predict/fold/plan_folder.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

using namespace rankscope;

namespace {

Scenario small(const std::string& cluster, int ranks, int layers = 12) {
  Scenario s =
      parse_scenario("[cluster]\nspec = \"" + cluster + "\"\n", test::source_folder() + "/scenarios/labs/x.toml");
  s.model = {"gpt", layers, 2048, 16, 1024, 32000, true, 0.1};
  s.plan.data = ranks;
  s.plan.precision = "fp16";
  s.train.global_batch = 64;
  return s;
}

std::vector<PlanSpec> some_plans(const Scenario& scenario, std::size_t count, std::mt19937& random) {
  std::vector<PlanSpec> plans = all_plans(scenario);
  std::shuffle(plans.begin(), plans.end(), random);
  plans.resize(std::min(plans.size(), count));
  return plans;
}

}  // namespace

TEST_CASE("a plan's bound is never more than its simulation, and seldom much less") {
  std::mt19937 random(7);
  double ratios = 0;
  int count = 0;
  for (const char* cluster : {"selene", "h100", "frontier", "jean-zay"})
    for (const int layers : {12, 13}) {
      Scenario s = small(cluster, 16, layers);
      if (layers == 13) s.cluster.slow_node = 0;
      s.cluster.slow_node_factor = 3;
      Schedules schedules;
      PlanFolder folder(s, schedules);
      for (const PlanSpec& plan : some_plans(s, 150, random)) {
        INFO(cluster << " " << layers << ": " << short_name(plan, s.train.global_batch));
        s.plan = plan;
        const PlanBound bound = folder.bound(plan);
        const FoldedStep step = fold_step(s);
        CHECK(bound.seconds > 0);
        CHECK(bound.seconds <= step.seconds);
        CHECK(bound.bytes == bytes_of_fullest(step.memory, s.cluster));
        ratios += bound.seconds / step.seconds;
        ++count;
      }
    }
  CHECK(ratios / count > 0.95);
}

TEST_CASE("a straggler's plans are bounded, too") {
  std::mt19937 random(3);
  Scenario s = small("selene", 16);
  s.fault.slow_rank = 5;
  s.fault.slow_factor = 2;
  Schedules schedules;
  PlanFolder folder(s, schedules);
  for (const PlanSpec& plan : some_plans(s, 100, random)) {
    INFO(short_name(plan, s.train.global_batch));
    s.plan = plan;
    CHECK(folder.bound(plan).seconds <= fold_step(s).seconds);
  }
}

TEST_CASE("folding a plan gives the same result after other plans as alone") {
  std::mt19937 random(11);
  for (const char* cluster : {"selene", "frontier", "jean-zay"}) {
    Scenario s = small(cluster, 32);
    s.cluster.slow_node = 1;
    s.cluster.slow_node_factor = 2;
    Schedules schedules;
    PlanFolder folder(s, schedules);
    for (const PlanSpec& plan : some_plans(s, 150, random)) {
      INFO(cluster << ": " << short_name(plan, s.train.global_batch));
      s.plan = plan;
      folder.bound(plan);
      const FoldedStep alone = fold_step(s), behind = folder.fold(plan);
      CHECK(behind.seconds == alone.seconds);
      CHECK(behind.compute == alone.compute);
      CHECK(behind.recompute == alone.recompute);
      CHECK(behind.tensor == alone.tensor);
      CHECK(behind.pipeline == alone.pipeline);
      CHECK(behind.data == alone.data);
      CHECK(behind.zero == alone.zero);
      CHECK(behind.optimizer == alone.optimizer);
      CHECK(behind.hardware_flops == alone.hardware_flops);
      REQUIRE(behind.memory.size() == alone.memory.size());
      for (std::size_t stage = 0; stage < alone.memory.size(); ++stage) {
        CHECK(behind.memory[stage].peak_by_class == alone.memory[stage].peak_by_class);
        CHECK(behind.memory[stage].at_peak == alone.memory[stage].at_peak);
      }
    }
  }
}

TEST_CASE("every plan has the scenario's ranks and batch, and none occurs twice") {
  const Scenario s = small("selene", 16);
  std::vector<std::string> names;
  for (const PlanSpec& plan : all_plans(s)) {
    CHECK(plan.ranks() == 16);
    CHECK(s.train.global_batch % (plan.data * plan.micro_batches) == 0);
    names.push_back(short_name(plan, s.train.global_batch));
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  CHECK(names.size() > 500);
}

TEST_CASE("a Llama's plans have no more tensor ranks than heads of keys, and all of them are accepted") {
  Scenario s = small("selene", 8);
  s.model.kind = "llama";
  s.model.dropout = 0;
  s.model.key_value_heads = 4;
  std::set<int> tensor;
  for (const PlanSpec& plan : all_plans(s)) {
    Scenario one = s;
    one.plan = plan;
    CHECK_FALSE(first_complaint(one));
    tensor.insert(plan.tensor);
  }
  CHECK(tensor == std::set<int>{1, 2, 4});
}

TEST_CASE("the search finds the same plans as simulating every plan") {
  Scenario s = small("selene", 8);
  s.train.global_batch = 16;
  s.cluster.memory_bytes = 12e9;  // so that some plans do not fit
  const SearchResult result = search(s, 5, 2);
  struct Point {
    double seconds, bytes;
  };
  std::vector<Point> all;
  std::size_t too_large = 0;
  for (const PlanSpec& plan : all_plans(s)) {
    Scenario one = s;
    one.plan = plan;
    const FoldedStep step = fold_step(one);
    const double bytes = bytes_of_fullest(step.memory, s.cluster);
    if (bytes <= s.cluster.memory_bytes)
      all.push_back({step.seconds, bytes});
    else
      ++too_large;
  }
  std::sort(all.begin(), all.end(), [](const Point& a, const Point& b) {
    return std::pair(a.seconds, a.bytes) < std::pair(b.seconds, b.bytes);
  });
  REQUIRE(all.size() >= 5);
  CHECK(too_large > 0);
  REQUIRE(result.best.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) CHECK(result.best[i].step.seconds == Approx(all[i].seconds));
  CHECK(result.simulated < result.plans / 20);
  CHECK(result.out_of_memory == too_large);
  // The front: each point that no other point beats in both respects.
  double least = 1e300;
  std::size_t on_front = 0;
  for (const Point& p : all)
    if (p.bytes < least) {
      least = p.bytes;
      ++on_front;
    }
  CHECK(result.front.size() == on_front);
  CHECK(result.front.front().step.seconds == result.best.front().step.seconds);
  CHECK(result.front.back().bytes == Approx(least));
}

TEST_CASE("if nothing fits the search states how much memory the nearest plan lacks") {
  Scenario s = small("selene", 2);
  const double least = search(s).front.back().bytes;  // the smallest of all plans
  for (const double memory : {0.5 * least, 0.99 * least}) {
    s.cluster.memory_bytes = memory;
    const SearchResult result = search(s);
    CHECK(result.best.empty());
    CHECK(result.out_of_memory == result.plans);
    REQUIRE(result.nearest);
    CHECK(result.nearest->bytes == least);
    CHECK(to_text(result).find("No plan fits") != std::string::npos);
    CHECK(to_text(result).find("The closest plan needs") != std::string::npos);
    CHECK(to_json(result)["best"].empty());
    CHECK(to_json(result)["nearest"]["device_bytes"] == least);
  }
}

TEST_CASE("a search finds the same plans whatever the timing of its threads") {
  const Scenario s = small("selene", 16);
  const SearchResult alone = search(s, 10, 1);
  for (int round = 0; round < 3; ++round) {
    const SearchResult together = search(s, 10, 4);
    CHECK(to_json(together)["best"] == to_json(alone)["best"]);
    CHECK(to_json(together)["front"] == to_json(alone)["front"]);
  }
}

TEST_CASE("the reasons why a plan is slower add up to the difference") {
  const SearchResult result = search(small("selene", 8), 2);
  REQUIRE(result.best.size() == 2);
  double sum = 0;
  for (const LostTime& lost : why_slower(result.best[0].step, result.best[1].step)) sum += lost.seconds;
  CHECK(sum == Approx(result.best[1].step.seconds - result.best[0].step.seconds).margin(1e-9));
}

TEST_CASE("the settings of a plan give that plan again") {
  const Scenario s = small("selene", 16);
  std::size_t number = 0, by_cost = 0;
  for (const PlanSpec& plan : all_plans(s)) {
    by_cost += plan.stages == "cost";
    if (number++ % 37 != 0) continue;
    std::vector<Override> overrides;
    for (const std::string& setting : settings_of(plan)) overrides.push_back(parse_override("plan." + setting));
    for (const char* rest : {"plan.precision=fp16", "model.layers=12", "model.heads=16", "model.width=2048",
                             "train.global_batch=64", "cluster.spec=selene"})
      overrides.push_back(parse_override(rest));
    CHECK(parse_scenario("", test::source_folder() + "/scenarios/labs/x.toml", overrides).plan == plan);
  }
  CHECK(by_cost > 0);  // the head of 32,000 words costs as much as a block or two
}

TEST_CASE("the text states the differences of the second plan, and how to simulate the first") {
  const SearchResult result = search(small("selene", 8), 2);
  const std::string text = to_text(result);
  CHECK(text.find(" in place of ") != std::string::npos);
  CHECK(text.find("--set schedule=" + result.best.front().plan.schedule.name()) != std::string::npos);
}

TEST_CASE("a collective alone has no plans, and says what it has instead") {
  Scenario s;
  s.model.kind = ModelKind::collective;
  CHECK_THROWS_WITH(all_plans(s), ContainsText("plan.collective"));
}
