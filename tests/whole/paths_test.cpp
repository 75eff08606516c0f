// Optimizers on surfaces, as requested by a user.
#include "engine/lesson/descent/path.hpp"
#include "tests/catch.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope;
using namespace rankscope::test;

TEST_CASE("paths prints a table of the optimizers: their ends, when they are near the minimum, and their memory") {
  const Folder folder;
  const Ended ended = engine(folder, {"paths", "ravine", "--optimizer", "sgd,adam", "--rate", "sgd=0.11"});
  INFO(ended.err << ended.out);
  CHECK(ended.status == 0);
  CHECK(ended.err == "");
  for (const char* words :
       {"½(x² + 20·y²)", "no model is trained", "diverged at step", "within 1 %", "from step 44", "8 B"}) {
    INFO(words);
    CHECK(ended.out.find(words) != std::string::npos);
  }
  CHECK(ended.out.find("momentum") == std::string::npos);
}

TEST_CASE("paths --json has the request and every point") {
  const Folder folder;
  const PathRequest request{.surface = "saddle",
                            .optimizers = {"sgd", "momentum"},
                            .rates = {{"momentum", 0.01}, {"sgd", 0.05}},
                            .steps = 30,
                            .noise = 0.1,
                            .seed = 3,
                            .start = Point{-1, 0.25},
                            .settings = {"momentum=0.5"}};
  std::vector<std::string> arguments = arguments_of(request);
  arguments.insert(arguments.begin(), "paths");
  arguments.emplace_back("--json");
  const Ended ended = engine(folder, arguments);
  INFO(ended.err);
  REQUIRE(ended.status == 0);
  const Paths paths = paths_from_json(ended.out);
  CHECK(paths.request == request);
  REQUIRE(paths.each.size() == 2);
  CHECK(paths.of("momentum")->steps() == 30);
  CHECK(paths.of("sgd")->points.front() == Point{-1, 0.25});
  CHECK_FALSE(paths.of("sgd")->points.back() == paths.of("momentum")->points.back());
}

TEST_CASE("a learning-rate schedule applies on a surface, too") {
  const Folder folder;
  const Ended ended = engine(
      folder, {"paths", "--optimizer", "sgd", "--rate", "0.1", "--set", "warmup_steps=4", "--steps", "4", "--json"});
  REQUIRE(ended.status == 0);
  const Paths paths = paths_from_json(ended.out);
  // 0.025, 0.05, 0.075 and 0.1 of the slope, which is x along the floor.
  double x = -4;
  for (const double rate : {0.025, 0.05, 0.075, 0.1}) x *= 1 - rate;
  CHECK(paths.each[0].points.back().x == Approx(x).epsilon(1e-14));
}
