#include "engine/search/search.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "engine/scenario/read.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

Scenario small(const std::string& cluster, int ranks, int layers = 12) {
  Scenario s = parse_scenario("[cluster]\nspec = \"" + cluster + "\"\n",
                              std::string(RANKSCOPE_SOURCE_DIR) + "/scenarios/labs/x.toml");
  s.model = {"gpt", layers, 2048, 16, 1024, 32000, true, 0.1};
  s.plan.data = ranks;
  s.plan.precision = "fp16";
  s.train.global_batch = 64;
  return s;
}

double peak_of(const FoldedStep& step, const ClusterSpec& cluster) {
  double most = 0;
  for (const StageMemory& stage : step.memory) most = std::max(most, static_cast<double>(stage.reserved()));
  return most * (1 + cluster.allocator_slack) + cluster.context_bytes;
}

}  // namespace

TEST_CASE("a plan's bound is never more than its simulation, in time and in memory") {
  std::mt19937 random(7);
  for (const char* cluster : {"selene", "h100", "frontier"})
    for (const int layers : {12, 13}) {
      Scenario s = small(cluster, 16, layers);
      PlanBounds bounds(s);
      std::vector<PlanSpec> plans = all_plans(s);
      std::shuffle(plans.begin(), plans.end(), random);
      plans.resize(60);
      for (const PlanSpec& plan : plans) {
        INFO(cluster << " " << layers << ": " << short_name(plan, s.train.global_batch));
        s.plan = plan;
        const PlanBound bound = bounds.of(plan);
        const FoldedStep step = fold_step(s);
        CHECK(bound.seconds > 0);
        CHECK(bound.seconds <= step.seconds * (1 + 1e-9));
        CHECK(bound.bytes <= peak_of(step, s.cluster));
      }
    }
}

TEST_CASE("every plan has the scenario's ranks and batch, and none is there twice") {
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

TEST_CASE("what the search finds is what simulating every plan finds") {
  Scenario s = small("selene", 8);
  s.train.global_batch = 16;
  s.cluster.memory_bytes = 12e9;  // so that some do not fit
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
    const double bytes = peak_of(step, s.cluster);
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
  CHECK(result.simulated < result.plans);
  // The front: each point that no other one beats in both.
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

TEST_CASE("where nothing fits the search says how far the nearest plan is") {
  Scenario s = small("selene", 2);
  s.cluster.memory_bytes = 8e9;
  const SearchResult result = search(s);
  CHECK(result.best.empty());
  CHECK(result.out_of_memory == result.plans);
  CHECK(to_text(result).find("No plan fits") != std::string::npos);
  CHECK(to_json(result)["best"].empty());
}

TEST_CASE("where not even a bound fits the search says what each plan needs at least") {
  Scenario s = small("selene", 2);
  const double least = search(s).front.back().bytes;
  s.cluster.memory_bytes = 2e9;
  const SearchResult result = search(s);
  CHECK(result.simulated == 0);
  CHECK_FALSE(result.least_memory);
  CHECK(result.least_bytes > s.cluster.memory_bytes);
  CHECK(result.least_bytes <= least);
  CHECK(to_text(result).find("GB at least, of 2.0 GB") != std::string::npos);
  CHECK(to_json(result)["least_bytes"] == result.least_bytes);
}

TEST_CASE("why a plan is slower adds up to how much slower it is") {
  const SearchResult result = search(small("selene", 8), 2);
  REQUIRE(result.best.size() == 2);
  double sum = 0;
  for (const LostTime& lost : why_slower(result.best[0].step, result.best[1].step)) sum += lost.seconds;
  CHECK(sum == Approx(result.best[1].step.seconds - result.best[0].step.seconds).margin(1e-9));
}

TEST_CASE("what a plan is set by, set again, is that plan") {
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
    CHECK(parse_scenario("", std::string(RANKSCOPE_SOURCE_DIR) + "/scenarios/labs/x.toml", overrides).plan == plan);
  }
  CHECK(by_cost > 0);  // the head of 32,000 words is worth a block or two
}

TEST_CASE("the text says what sets the second apart, and how to simulate the first") {
  const SearchResult result = search(small("selene", 8), 2);
  const std::string text = to_text(result);
  CHECK(text.find(" in place of ") != std::string::npos);
  CHECK(text.find("--set schedule=" + result.best.front().plan.schedule) != std::string::npos);
}
