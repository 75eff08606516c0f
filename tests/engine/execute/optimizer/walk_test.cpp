#include "engine/execute/optimizer/walk.hpp"

#include <cmath>
#include <complex>
#include <nlohmann/json.hpp>

#include "engine/lesson/lab/lab.hpp"
#include "engine/plan/optimizer_rule/rule.hpp"
#include "kernels/cpu/cpu.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

TrainSpec walker(const std::string& optimizer, double rate, int steps) {
  TrainSpec train;
  train.optimizer = optimizer;
  train.learning_rate = rate;
  train.steps = steps;
  return train;
}

OptimizerPath walked(const Surface& surface, const TrainSpec& train, double noise = 0, std::uint64_t seed = 1) {
  return walk(surface, surface.start, train, noise, seed, kernels::cpu_kernels());
}

}  // namespace

TEST_CASE("on a quadratic SGD multiplies each coordinate by 1 - rate·λ in every step") {
  const double condition = GENERATE(1.0, 20.0, 50.0), rate = GENERATE(0.01, 0.03, 0.039);
  const Surface ravine = make_surface("ravine", condition);
  const OptimizerPath path = walked(ravine, walker("sgd", rate, 200));
  REQUIRE(path.steps() == 200);
  for (int t = 0; t <= 200; ++t) {
    const Point& at = path.points[static_cast<std::size_t>(t)];
    CHECK(at.x == Approx(std::pow(1 - rate, t) * ravine.start.x).epsilon(1e-12));
    CHECK(at.y == Approx(std::pow(1 - rate * condition, t) * ravine.start.y).epsilon(1e-11).margin(1e-300));
  }
}

TEST_CASE("SGD diverges beyond a rate of 2/λmax and not before") {
  const double condition = GENERATE(5.0, 20.0, 400.0);
  const Surface ravine = make_surface("ravine", condition);
  const OptimizerPath below = walked(ravine, walker("sgd", 0.99 * 2 / condition, 2000));
  CHECK_FALSE(below.diverged.has_value());
  CHECK(std::abs(below.points.back().y) < 1e-12);
  const OptimizerPath beyond = walked(ravine, walker("sgd", 1.01 * 2 / condition, 2000));
  // |y| = 1.02^t leaves ten windows, 15, at the first t where it is greater: ln 15/ln 1.02 = 136.8.
  CHECK(beyond.diverged == 137);
  // At exactly 2/λmax it alternates between two points forever (except for rounding).
  const OptimizerPath between = walked(ravine, walker("sgd", 2 / condition, 100));
  CHECK(between.points.back().y == Approx(1.0));
  CHECK(between.points[99].y == Approx(-1.0));
}

TEST_CASE("on a quadratic momentum is a damped oscillator: powers of the roots of r² - (1 + μ - rate·λ)r + μ") {
  const double rate = GENERATE(0.001, 0.02, 0.15), mu = 0.9;
  const Surface ravine = make_surface("ravine");
  const OptimizerPath path = walked(ravine, walker("momentum", rate, 200));
  REQUIRE(path.steps() == 200);
  const auto expected = [&](double lambda, double start, int t) {
    // x1 = (1 - rate·λ)·x0, and from there x(t+1) = (1 + μ - rate·λ)·x(t) - μ·x(t-1).
    const std::complex<double> b = 1 + mu - rate * lambda, root = std::sqrt(b * b - 4 * mu);
    const std::complex<double> r1 = (b + root) / 2.0, r2 = (b - root) / 2.0;
    const std::complex<double> c1 = (1 - rate * lambda - r2) / (r1 - r2), c2 = 1.0 - c1;
    return start * (c1 * std::pow(r1, t) + c2 * std::pow(r2, t)).real();
  };
  for (const int t : {1, 2, 3, 10, 50, 100, 200}) {
    INFO("rate " << rate << ", step " << t);
    const Point& at = path.points[static_cast<std::size_t>(t)];
    CHECK(at.x == Approx(expected(1, ravine.start.x, t)).epsilon(1e-9).margin(1e-12));
    CHECK(at.y == Approx(expected(20, ravine.start.y, t)).epsilon(1e-9).margin(1e-12));
  }
  // Above (1 - √μ)² the roots are complex: it overshoots the minimum along the floor.
  if (rate == 0.02) CHECK(std::any_of(path.points.begin(), path.points.end(), [](Point p) { return p.x > 0.5; }));
}

TEST_CASE("Adam's first step is the rate in each coordinate, whatever the gradient's size; AdaGrad's shrink as 1/√t") {
  for (const double condition : {1.0, 20.0, 1e5}) {
    const OptimizerPath adam = walked(make_surface("ravine", condition), walker("adam", 0.1, 3));
    CHECK(adam.points[1].x - adam.points[0].x == Approx(0.1).epsilon(1e-6));
    CHECK(adam.points[0].y - adam.points[1].y == Approx(0.1).epsilon(1e-6));
  }
  // With a constant slope, its t-th step is rate/√t.
  Surface slope = make_surface("ravine");
  slope.value = [](Point p) { return 3 * p.x; };
  slope.gradient = [](Point) { return Point{3, 0}; };
  const OptimizerPath path = walked(slope, walker("adagrad", 0.5, 16));
  for (const int t : {1, 4, 9, 16}) CHECK(path.step_length(t) == Approx(0.5 / std::sqrt(t)).epsilon(1e-8));
  const OptimizerPath adam = walked(slope, walker("adam", 0.05, 16));
  for (const int t : {1, 4, 9, 16}) CHECK(adam.step_length(t) == Approx(0.05).epsilon(1e-6));
}

TEST_CASE("near a saddle adaptive optimizers leave at once, and SGD by a constant factor per step") {
  const Surface saddle = make_surface("saddle");
  const OptimizerPath sgd = walked(saddle, walker("sgd", 0.02, 120));
  // While y is small the slope is -2y: y = 0.001·1.04^t.
  CHECK(sgd.points[60].y == Approx(1e-3 * std::pow(1.04, 60)).epsilon(1e-3));
  CHECK_FALSE(sgd.reached.has_value());
  for (const char* optimizer : {"adam", "adamw", "adam8bit"}) {
    INFO(optimizer);
    const OptimizerPath path = walked(saddle, walker(optimizer, 0.02, 120));
    CHECK(path.points[40].y > 20 * sgd.points[40].y);
    CHECK(path.reached.has_value());
  }
}

TEST_CASE("the noise of a step is the same for every optimizer, has the given deviation, and depends on the seed") {
  Surface flat = make_surface("ravine");
  flat.value = [](Point) { return 1.0; };
  flat.gradient = [](Point) { return Point{0, 0}; };
  // On a flat surface a step of SGD is the rate times the noise.
  const OptimizerPath sum = walked(flat, walker("sgd", 1e-3, 4000), 0.5);
  double squares = 0;
  for (int t = 1; t <= 4000; ++t) squares += std::pow(sum.step_length(t) / 1e-3, 2);
  CHECK(std::sqrt(squares / 8000) == Approx(0.5).epsilon(0.03));
  const OptimizerPath momentum = walked(flat, walker("momentum", 1e-3, 1), 0.5);
  CHECK(momentum.points[1] == sum.points[1]);
  CHECK_FALSE(walked(flat, walker("sgd", 1e-3, 1), 0.5, 2).points[1] == sum.points[1]);
  CHECK(walked(flat, walker("sgd", 1e-3, 50), 0.5).points.back() == sum.points[50]);
}

TEST_CASE("weight decay on a surface is off unless requested: the surface keeps its minimum") {
  const Surface ravine = make_surface("ravine");
  CHECK(walked(ravine, walker("adamw", 0.1, 50)).points == walked(ravine, walker("adam", 0.1, 50)).points);
  TrainSpec decays = walker("adamw", 0.1, 1);
  decays.hyper.weight_decay = 0.5;
  const OptimizerPath path = walked(ravine, decays);
  CHECK(path.points[1].x == Approx(ravine.start.x * (1 - 0.1 * 0.5) + 0.1).epsilon(1e-6));
}

TEST_CASE("8-bit Adam rounds its moments on surfaces, too: its path is near AdamW's, with other bits") {
  const Surface beale = make_surface("beale");
  const OptimizerPath full = walked(beale, walker("adamw", 0.1, 300)),
                      eight = walked(beale, walker("adam8bit", 0.1, 300));
  CHECK_FALSE(full.points[20] == eight.points[20]);
  CHECK(beale.distance(eight.points.back()) < 1e-3);
}

TEST_CASE("bytes of states are those of training: 8 with Adam, 2.03 in 8 bits, almost none with Adafactor") {
  CHECK(state_bytes_per_parameter("sgd") == 0);
  CHECK(state_bytes_per_parameter("momentum") == 4);
  CHECK(state_bytes_per_parameter("adagrad") == 4);
  for (const char* two : {"adam", "adamw", "radam", "sophia"}) CHECK(state_bytes_per_parameter(two) == 8);
  CHECK(state_bytes_per_parameter("adam8bit") == 2 + 8.0 / 256);
  CHECK(state_bytes_per_parameter("adafactor") == 2 * 4 / 1024.0);
}

TEST_CASE("with its rate for a surface, no optimizer diverges there, and each ends below its start") {
  const Surface surface = make_surface(GENERATE(from_range(surface_names())));
  for (const std::string& optimizer : walking_optimizers()) {
    INFO(surface.name << " " << optimizer);
    const OptimizerPath path = walked(surface, walker(optimizer, surface.rates.at(optimizer), surface.steps));
    CHECK_FALSE(path.diverged.has_value());
    CHECK(path.steps() == surface.steps);
    CHECK(path.losses.back() - surface.least < 0.6 * (path.losses.front() - surface.least));
  }
}

TEST_CASE("questions of lessons about paths have an answer, at the rates and on the surface that they name") {
  int asked = 0;
  for (const Lab& lab : all_labs())
    for (const Question& question : lab.questions) {
      if (!question.paths) continue;
      ++asked;
      INFO(lab.file << ": " << question.ask);
      const PathRequest& request = *question.paths;
      const Surface surface = make_surface(request.surface, request.condition);
      const std::string& from = question.answer_from;
      const std::string optimizer = from.substr(6, from.rfind('.') - 6);
      const auto rate = request.rates.find(optimizer);
      Paths paths;
      paths.request = request;
      paths.each.push_back(
          walked(surface,
                 walker(optimizer, rate != request.rates.end() ? rate->second : surface.rates.at(optimizer),
                        request.steps > 0 ? request.steps : surface.steps),
                 request.noise));
      CHECK(to_json(paths)["paths"][0][from.substr(from.rfind('.') + 1)].is_number());
    }
  CHECK(asked >= 3);
}
