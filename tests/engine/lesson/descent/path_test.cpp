#include "engine/lesson/descent/path.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"

using namespace rankscope;

namespace {

/// A path along the ravine's floor, where the loss is x²/2.
OptimizerPath path_along(std::initializer_list<double> xs) {
  const Surface ravine = make_surface("ravine");
  OptimizerPath path;
  path.optimizer = "sgd";
  path.rate = 0.1;
  for (const double x : xs) add_point(path, ravine, {x, 0});
  judge(path, ravine);
  return path;
}

}  // namespace

TEST_CASE("a path has reached the minimum when its loss stays within a hundredth of the start's") {
  // The loss at x is x²/2: a tenth of the start's x has a hundredth of its loss.
  CHECK(path_along({4, 2, 0.41, 0.39, 0.1}).reached == 3);
  CHECK(path_along({4, 0.1, 2, 0.3, 0.2}).reached == 3);  // a path that only crosses the minimum does not count
  CHECK_FALSE(path_along({4, 2, 1}).reached.has_value());
  CHECK(path_along({4, 0.399}).reached == 1);
}

TEST_CASE("a path ends when it leaves ten times the window, or is not a number") {
  const Surface ravine = make_surface("ravine");
  OptimizerPath path;
  CHECK(add_point(path, ravine, {0, 1}));
  CHECK(add_point(path, ravine, {0, 14.9}));  // the window's height is 3
  CHECK_FALSE(add_point(path, ravine, {0, -15.1}));
  CHECK(path.diverged == 2);
  CHECK(path.points.size() == 3);
  CHECK(path.steps() == 2);
  OptimizerPath lost;
  CHECK(add_point(lost, ravine, {0, 1}));
  CHECK_FALSE(add_point(lost, ravine, {std::nan(""), 1}));
  CHECK(lost.diverged == 1);
  CHECK(lost.points.size() == 1);
  judge(lost, ravine);
  CHECK_FALSE(lost.reached.has_value());
}

TEST_CASE("paths read back from JSON as they were written, to the bit") {
  Paths paths;
  paths.request = {.surface = "ravine",
                   .condition = 50,
                   .optimizers = {"sgd"},
                   .rates = {{"sgd", 0.1}},
                   .steps = 4,
                   .noise = 0.1,
                   .seed = 7,
                   .start = Point{4, 0},
                   .settings = {"momentum=0.5"}};
  paths.each = {path_along({4, 1.0 / 3, 0.1})};
  const Paths read = paths_from_json(to_json(paths).dump());
  CHECK(read.request == paths.request);
  REQUIRE(read.each.size() == 1);
  CHECK(read.each[0].points == paths.each[0].points);
  CHECK(read.each[0].losses == paths.each[0].losses);
  CHECK(read.each[0].reached == paths.each[0].reached);
  CHECK(read.of("sgd") == &read.each[0]);
  CHECK(read.of("adam") == nullptr);
  CHECK_THROWS_AS(paths_from_json("{}"), std::invalid_argument);
  CHECK_THROWS_AS(paths_from_json("no JSON"), std::invalid_argument);
}

TEST_CASE("a path's figures are in its JSON, each a value that a lesson may ask for") {
  Paths paths;
  paths.request.optimizers = {"sgd"};
  paths.each = {path_along({4, 1, 0.3})};
  const nlohmann::json json = to_json(paths)["paths"][0];
  CHECK(json["loss"] == 0.5 * 0.3 * 0.3);
  CHECK(json["distance"] == 0.3);
  CHECK(json["first_step"] == 3.0);
  CHECK(json["reached"] == 2);
  CHECK(json["diverged"].is_null());
  for (const char* value :
       {"rate", "loss", "above_least", "distance", "first_step", "last_step", "reached", "bytes_per_parameter"}) {
    INFO(value);
    CHECK(json.contains(value));
    CHECK(is_path_value(std::string("paths.sgd.") + value));
  }
  for (const char* no : {"paths", "paths.sgd", "paths.hill.loss", "paths.sgd.points", "paths..loss", "path.sgd.loss",
                         "paths.sgd.x.loss", "loss"}) {
    INFO(no);
    CHECK_FALSE(is_path_value(no));
  }
}

TEST_CASE("the arguments of a request omit defaults") {
  CHECK(arguments_of({}) == std::vector<std::string>{"ravine"});
  const PathRequest request{.surface = "saddle",
                            .optimizers = {"sgd", "adam"},
                            .rates = {{"adam", 0.1}},
                            .steps = 50,
                            .noise = 0.25,
                            .start = Point{-1, 0.5}};
  CHECK(arguments_of(request) == std::vector<std::string>{"saddle", "--optimizer", "sgd,adam", "--rate", "adam=0.1",
                                                          "--steps", "50", "--noise", "0.25", "--start=-1,0.5"});
}
