#include "engine/predict/search/plan_search.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/plan/scenario/read.hpp"
#include "engine/predict/search/plan_space.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

using namespace rankscope;

namespace {

/// Eight ranks with little memory: half of the plans do not fit.
Scenario eight_ranks() {
  Scenario s = parse_scenario("[cluster]\nspec = \"selene\"\n", test::source_folder() + "/scenarios/labs/x.toml");
  s.model = {"gpt", 12, 2048, 16, 1024, 32000, true, 0.1};
  s.plan.data = 8;
  s.plan.precision = "fp16";
  s.train.global_batch = 16;
  s.cluster.memory_bytes = 12e9;
  return s;
}

PlanSearchReport search_by(const PlanTrials& trials, Strategy strategy, std::size_t budget = 60,
                           std::uint64_t seed = 1) {
  PlanSearch how;
  how.strategy = strategy;
  how.how.budget = budget;
  how.how.seed = seed;
  how.threads = 2;
  return search_plans(trials, how);
}

double best_of(const PlanSearchReport& report) {
  return report.best.empty() ? 1e300 : report.points[report.best.front()].seconds;
}

}  // namespace

TEST_CASE("an exhaustive search finds what the bounded one finds, and tries every plan") {
  const Scenario s = eight_ranks();
  const PlanTrials trials = folded_trials(s);
  const PlanSearchReport report = search_by(trials, Strategy::exhaustive);
  const SearchResult bounded = search(s, 10, 2);
  CHECK(report.plans == bounded.plans);
  CHECK(report.tried == report.plans);
  CHECK(report.out_of_memory == bounded.out_of_memory);
  CHECK(report.refused == 0);
  REQUIRE(report.best.size() == bounded.best.size());
  for (std::size_t i = 0; i < report.best.size(); ++i) {
    const PlanPoint& point = report.points[report.best[i]];
    CHECK(point.seconds == bounded.best[i].step.seconds);
    CHECK(point.bytes == bounded.best[i].bytes);
    CHECK(trials.plans[point.number] == bounded.best[i].plan);
    CHECK(with_values(s.plan, report.knobs, point.values) == bounded.best[i].plan);
  }
  REQUIRE(report.front.size() == bounded.front.size());
  for (std::size_t i = 0; i < report.front.size(); ++i) {
    CHECK(report.points[report.front[i]].seconds == bounded.front[i].step.seconds);
    CHECK(report.points[report.front[i]].bytes == bounded.front[i].bytes);
  }
}

TEST_CASE("a report's points represent every plan that was tried, and no plan on the front is hidden") {
  const PlanTrials trials = folded_trials(eight_ranks());
  const PlanSearchReport report = search_by(trials, Strategy::exhaustive);
  std::size_t together = 0, lost = 0;
  for (const PlanPoint& point : report.points) {
    together += point.together;
    lost += point.fate == Fate::out_of_memory ? point.together : 0;
    CHECK(point.fate != Fate::refused);
    CHECK((point.bytes > report.device_bytes) == (point.fate == Fate::out_of_memory));
  }
  CHECK(together == report.tried);
  CHECK(lost == report.out_of_memory);
  CHECK(report.points.size() < report.tried);
}

TEST_CASE("the parts of a plan's step are its step, and those of the second say why it loses") {
  const PlanSearchReport report = search_by(folded_trials(eight_ranks()), Strategy::exhaustive);
  for (const PlanPoint& point : report.points) {
    double sum = 0;
    for (const double part : point.parts) sum += part;
    if (point.fate == Fate::fits) CHECK(sum == Approx(point.seconds));
  }
  const PlanPoint &first = report.points[report.best[0]], &second = report.points[report.best[1]];
  double behind = 0;
  for (const LostTime& lost : why_slower(first.parts, second.parts)) behind += lost.seconds;
  CHECK(behind == Approx(second.seconds - first.seconds).margin(1e-9));
  CHECK(to_text(report).find("The second (") != std::string::npos);
}

TEST_CASE("on real plans a Bayesian search finds better ones than a random search with the same number of tries") {
  const PlanTrials trials = folded_trials(eight_ranks());
  const double best = best_of(search_by(trials, Strategy::exhaustive));
  double bayes = 0, random = 0;
  constexpr int seeds = 8;
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto of = [&](Strategy strategy) {
      return best_of(search_by(trials, strategy, 60, static_cast<std::uint64_t>(seed))) / best - 1;
    };
    bayes += of(Strategy::bayes) / seeds;
    random += of(Strategy::random) / seeds;
  }
  INFO("behind the best plan of " << trials.plans.size() << " after 60 tries: bayes " << bayes << ", random "
                                  << random);
  CHECK(bayes < 0.6 * random);
  CHECK(bayes < 0.1);
}

TEST_CASE("a trajectory's plans are each faster than the one before, and end with the best") {
  const PlanTrials trials = folded_trials(eight_ranks());
  for (const Strategy strategy : every_strategy) {
    const PlanSearchReport report = search_by(trials, strategy);
    INFO(name_of(report.strategy));
    REQUIRE(!report.trajectory.empty());
    for (std::size_t i = 1; i < report.trajectory.size(); ++i) {
      CHECK(report.trajectory[i - 1].tried < report.trajectory[i].tried);
      CHECK(report.points[report.trajectory[i - 1].point].seconds > report.points[report.trajectory[i].point].seconds);
    }
    CHECK(report.trajectory.back().tried <= report.tried);
    CHECK(report.points[report.trajectory.back().point].seconds == best_of(report));
    CHECK(report.tried == (strategy == Strategy::exhaustive ? report.plans : 60));
  }
}

TEST_CASE("a failure costs a try and is never the best plan") {
  Scenario s = eight_ranks();
  s.cluster.memory_bytes = 1e9;  // nothing fits
  for (const Strategy strategy : {Strategy::random, Strategy::bayes}) {
    const PlanSearchReport report = search_by(folded_trials(s), strategy, 30);
    CHECK(report.tried == 30);
    CHECK(report.out_of_memory == 30);
    CHECK(report.best.empty());
    CHECK(report.front.empty());
    CHECK(report.trajectory.empty());
    CHECK(report.importance.empty());
    CHECK(to_text(report).find("No plan that was tried fits") != std::string::npos);
  }
}

TEST_CASE("a refused plan has no time, and counts as a failure") {
  PlanTrials trials = folded_trials(eight_ranks());
  trials.make_judge = [judge = trials.make_judge]() -> Judge {
    return [judge = judge()](const PlanSpec& plan) { return plan.tensor > 1 ? Judgement{} : judge(plan); };
  };
  const PlanSearchReport report = search_by(trials, Strategy::exhaustive);
  CHECK(report.refused > 0);
  for (const PlanPoint& point : report.points) CHECK(with_values({}, report.knobs, point.values).tensor == 1);
  CHECK(to_text(report).find("refused") != std::string::npos);
}

TEST_CASE("a report in JSON has every point, and its indices name points of that list") {
  for (const Strategy strategy : every_strategy) {
    const PlanSearchReport report = search_by(folded_trials(eight_ranks()), strategy);
    const nlohmann::json json = nlohmann::json::parse(to_json(report).dump());
    CHECK(json["strategy"] == name_of(strategy));
    REQUIRE(json["points"].size() == report.points.size());
    for (std::size_t i = 0; i < report.points.size(); ++i) {
      const nlohmann::json& point = json["points"][i];
      CHECK(point["fate"] == name_of(report.points[i].fate));
      CHECK(point["step_seconds"].is_null() == std::isnan(report.points[i].seconds));
      for (std::size_t knob = 0; knob < report.knobs.size(); ++knob)
        CHECK(point["values"][knob] < json["knobs"][knob]["values"].size());
    }
    for (const char* list : {"best", "front"})
      for (const nlohmann::json& index : json[list]) CHECK(index < report.points.size());
    CHECK(json["points"][json["best"][0].get<std::size_t>()]["step_seconds"] ==
          report.points[report.best.front()].seconds);
  }
}

TEST_CASE("a plan's point has its values, and with these any plan becomes it") {
  const std::vector<PlanSpec> plans = possible_plans(eight_ranks());
  const Space space = plan_space(plans);
  REQUIRE(space.size() == plans.size());
  PlanSpec by_hand = plans.front();
  by_hand.schedule = ScheduleKind::by_hand;
  by_hand.order = "stage 0: F:c0:m0 B:c0:m0";
  for (std::size_t i = 0; i < plans.size(); i += 11)
    CHECK(with_values(by_hand, space.knobs(), space.at(i)) == plans[i]);
  std::set<std::vector<int>> points;
  for (std::size_t i = 0; i < plans.size(); ++i) points.insert({space.at(i).begin(), space.at(i).end()});
  CHECK(points.size() == plans.size());
  CHECK_THROWS_AS(with_values({}, {{"size", {"1"}}}, std::vector{0}), std::invalid_argument);
  CHECK_THROWS_AS(with_values({}, {{"zero", {"x"}}}, std::vector{0}), std::invalid_argument);
}
