#include "engine/lesson/lab/experiment.hpp"

#include "tests/catch.hpp"

using namespace rankscope;

TEST_CASE("A lesson's command lines are read with their settings") {
  const auto run =
      experiment_of("    rankscope-engine run scenarios/labs/walls.toml --set train.steps=3 --record x.mcap");
  REQUIRE(run.has_value());
  CHECK(run->command == "run");
  CHECK(run->scenario == "scenarios/labs/walls.toml");
  CHECK(run->settings == std::vector<std::string>{"train.steps=3"});
  CHECK(run->others == std::vector<std::string>{"--record", "x.mcap"});
  const auto set = experiment_of("--set micro_batches=16 --set 'x'");
  REQUIRE(set.has_value());
  CHECK(set->command.empty());
  CHECK(set->settings.size() == 2);
  const auto quoted = experiment_of("… --set stages=\"3 2 2 1\"");
  REQUIRE(quoted.has_value());
  CHECK(quoted->settings == std::vector<std::string>{"stages=3 2 2 1"});
  CHECK_FALSE(experiment_of("bubble = (p - 1)/(m + p - 1)").has_value());
  CHECK_FALSE(experiment_of("").has_value());
  CHECK_FALSE(experiment_of("rankscope-engine").has_value());
}

TEST_CASE("Only lines of code are commands") {
  const auto all =
      experiments_in("rankscope-engine run a\n\n    rankscope-engine simulate b\n    x = 3\n    --set data=2\n");
  REQUIRE(all.size() == 2);
  CHECK(all[0].command == "simulate");
  CHECK(all[1].settings == std::vector<std::string>{"data=2"});
}

TEST_CASE("A lesson is read in three parts: up to its questions, how to run, and what answers them") {
  const LessonParts parts = parts_of("## Read\na\n## Predict\nb\n## Run\nc\n## Compare\nd\n## Explain\ne\n");
  CHECK(parts.before == "## Read\na\n## Predict\nb");
  CHECK(parts.run == "## Run\nc");
  CHECK(parts.after == "## Compare\nd\n## Explain\ne");
  CHECK(parts_of("just text").before == "just text");
  CHECK(parts_of("just text").after.empty());
}
