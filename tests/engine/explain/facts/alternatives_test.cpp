// Alternatives: the plans one change away.
#include "engine/explain/facts/alternatives.hpp"

#include <algorithm>

#include "engine/explain/facts/prediction.hpp"
#include "engine/plan/scenario/read.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

using namespace rankscope;

namespace {

Scenario lab(const char* name, const std::vector<Override>& overrides = {}) {
  return read_scenario(test::source_folder() + "/scenarios/labs/" + name, overrides);
}

const Alternative* named(const std::vector<Alternative>& all, const std::string& change) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Alternative& a) { return a.change.starts_with(change); });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("alternatives of a 1F1B pipeline are interleaved chunks, zero bubble, more micro-batches and fewer stages") {
  const Scenario s = lab("pipeline-1f1b.toml");
  const Alternatives all = alternatives_to(s);
  const Alternative* interleaved = named(all.others, "interleaved");
  const Alternative* replicas = named(all.others, "data 2, pipeline 2");
  const Alternative* recomputed = named(all.others, "recomputation of every block");
  REQUIRE(interleaved);
  REQUIRE(replicas);
  REQUIRE(recomputed);
  CHECK(named(all.others, "zero bubble"));
  // Narayanan et al. 2021: v chunks divide the bubble by v, but the first rank keeps more activations.
  CHECK(interleaved->bubble < 0.75 * all.now.bubble);
  CHECK(interleaved->peak_bytes > all.now.peak_bytes);
  CHECK(replicas->plan.micro_batches == s.plan.micro_batches / 2);
  CHECK(recomputed->step_seconds > all.now.step_seconds);
  CHECK(recomputed->peak_bytes < all.now.peak_bytes);
}

TEST_CASE(
    "each alternative has its own prediction, on the same number of ranks, and those that cannot run are left out") {
  Scenario s = lab("pipeline-1f1b.toml", {{"plan.data", "2"}, {"plan.pipeline", "2"}, {"plan.micro_batches", "4"}});
  const Alternatives all = alternatives_to(s);
  REQUIRE(all.others.size() >= 6);
  CHECK(std::is_sorted(all.others.begin(), all.others.end(),
                       [](const Alternative& a, const Alternative& b) { return a.step_seconds < b.step_seconds; }));
  for (const Alternative& other : all.others) {
    INFO(other.change);
    CHECK(other.plan != s.plan);
    CHECK(other.plan.ranks() == s.plan.ranks());
    CHECK(other.plan.precision == s.plan.precision);
    Scenario alone = s;
    alone.plan = other.plan;
    const Report report = predict_step(compile(alone));
    CHECK(other.step_seconds == report.step_seconds);
    CHECK(other.bubble == report.bubble.predicted);
  }
  // A batch of 32 cannot be divided into 2 replicas × 4 × 8 micro-batches, which would be less than a sample.
  s.train.global_batch = 8;
  CHECK_FALSE(named(alternatives_to(s).others, "8 micro-batches"));
}

TEST_CASE("listed alternatives are faster or smaller, and fit") {
  Alternatives all;
  all.now = {"", {}, 1.0, 0.3, 100, true};
  all.others = {{"too large", {}, 0.5, 0.1, 900, false}, {"faster", {}, 0.8, 0.2, 120, true},
                {"no faster", {}, 0.995, 0.3, 95, true}, {"smaller", {}, 1.2, 0.3, 60, true},
                {"smallest", {}, 1.4, 0.3, 40, true},    {"worse", {}, 1.5, 0.3, 100, true}};
  const auto names = [](const std::vector<Alternative>& chosen) {
    std::vector<std::string> result;
    for (const Alternative& one : chosen) result.push_back(one.change);
    return result;
  };
  CHECK(names(worth_trying(all)) == std::vector<std::string>{"faster", "smallest", "smaller"});
  CHECK(names(worth_trying(all, 4, 1)) == std::vector<std::string>{"faster", "smallest"});
  all.now.fits = false;
  CHECK(names(worth_trying(all, 2)) == std::vector<std::string>{"faster", "no faster"});
}

TEST_CASE("predicting alternatives can be stopped early") {
  int asked = 0;
  const Alternatives all = alternatives_to(lab("pipeline-1f1b.toml"), [&] { return ++asked <= 2; });
  CHECK(asked == 3);
  CHECK(all.others.size() <= 2);
}
