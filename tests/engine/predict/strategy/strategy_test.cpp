#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <set>

#include "engine/predict/strategy/explore.hpp"
#include "engine/predict/strategy/forest.hpp"
#include "engine/predict/strategy/front.hpp"
#include "engine/predict/strategy/importance.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

std::vector<std::string> numbers_to(int n) {
  std::vector<std::string> values;
  for (int i = 0; i < n; ++i) values.push_back(std::to_string(i));
  return values;
}

/// All combinations of values, with the given number of values for each knob.
Space grid_of(const std::vector<int>& sizes) {
  std::vector<Knob> knobs;
  for (std::size_t k = 0; k < sizes.size(); ++k) knobs.push_back({"knob " + std::to_string(k), numbers_to(sizes[k])});
  Space space(knobs);
  std::vector<int> point(sizes.size(), 0);
  for (;;) {
    space.add(point);
    std::size_t k = 0;
    while (k < point.size() && ++point[k] == sizes[k]) point[k++] = 0;
    if (k == point.size()) return space;
  }
}

/// Similar to plans: factors that multiply, two knobs that must fit each other, and a corner that fails, with the best
/// point next to it.
std::optional<double> planlike(std::span<const int> x) {
  if (x[0] + x[1] + 2 * x[2] < 5) return std::nullopt;
  return (1 + 0.15 * x[0]) * (1 + 0.1 * x[1] + 0.2 * std::abs(x[2] - x[1])) * (1 + 0.3 * std::abs(x[3] - 1)) *
         (x[4] == 0 ? 1.2 : 1);
}

struct Race {
  double mean_tries = 0;
  int found = 0;
};

/// Number of tries until the least value was found, over seeds; `budget` if it was not found.
Race race(const Space& space, Strategy strategy, int seeds, std::size_t budget) {
  double least = 1e300;
  for (std::size_t i = 0; i < space.size(); ++i)
    if (const auto value = planlike(space.at(i))) least = std::min(least, *value);
  Race race;
  for (int seed = 1; seed <= seeds; ++seed) {
    Exploration how;
    how.budget = budget;
    how.seed = static_cast<std::uint64_t>(seed);
    std::size_t tries = 0, found_after = 0;
    explore(space, strategy, how, [&](std::size_t point) {
      ++tries;
      const std::optional<double> value = planlike(space.at(point));
      if (value && *value <= least && found_after == 0) found_after = tries;
      return value;
    });
    race.found += found_after > 0;
    race.mean_tries += static_cast<double>(found_after > 0 ? found_after : budget) / seeds;
  }
  return race;
}

}  // namespace

TEST_CASE("a Bayesian search finds the least value in fewer tries than a random one, on average over seeds") {
  const Space space = grid_of({7, 6, 4, 4, 2});
  REQUIRE(space.size() == 1344);
  const Race bayes = race(space, Strategy::bayes, 10, 120), random = race(space, Strategy::random, 10, 120);
  INFO("bayes " << bayes.mean_tries << " tries, found by " << bayes.found << "; random " << random.mean_tries
                << " tries, found by " << random.found << " of 10 seeds");
  CHECK(bayes.found >= 9);
  CHECK(bayes.mean_tries < 0.65 * random.mean_tries);
}

TEST_CASE("a strategy tries no point twice, as many as its budget allows, and the same with the same seed") {
  const Space space = grid_of({5, 5, 5});
  for (const Strategy strategy : {Strategy::random, Strategy::bayes}) {
    INFO(name_of(strategy));
    const auto run = [&](std::uint64_t seed, std::size_t budget) {
      std::vector<std::size_t> asked;
      Exploration how;
      how.budget = budget;
      how.seed = seed;
      const auto order = explore(space, strategy, how, [&](std::size_t point) -> std::optional<double> {
        asked.push_back(point);
        if (point % 3 == 0) return std::nullopt;
        return 1.0 + static_cast<double>(point % 17);
      });
      CHECK(order == asked);
      return order;
    };
    const auto order = run(1, 40);
    CHECK(order.size() == 40);
    CHECK(std::set<std::size_t>(order.begin(), order.end()).size() == 40);
    CHECK(order == run(1, 40));
    CHECK(order != run(2, 40));
    const auto all = run(1, 1000);
    CHECK(std::set<std::size_t>(all.begin(), all.end()).size() == space.size());
  }
  std::vector<std::size_t> in_order(space.size());
  std::iota(in_order.begin(), in_order.end(), std::size_t{0});
  CHECK(explore(space, Strategy::exhaustive, {}, [](std::size_t) { return std::optional(1.0); }) == in_order);
}

TEST_CASE("a Bayesian search begins with the points of a random one of the same seed") {
  const Space space = grid_of({6, 6, 6});
  Exploration how;
  how.budget = 30;
  how.seed = 5;
  const auto value = [](std::size_t point) { return std::optional(1.0 + static_cast<double>(point)); };
  const auto random = explore(space, Strategy::random, how, value), bayes = explore(space, Strategy::bayes, how, value);
  CHECK(std::equal(random.begin(), random.begin() + 10, bayes.begin()));
  CHECK(random != bayes);
}

TEST_CASE("if everything fails a Bayesian search still uses its whole budget") {
  const Space space = grid_of({4, 4, 4});
  Exploration how;
  how.budget = 25;
  CHECK(explore(space, Strategy::bayes, how, [](std::size_t) { return std::nullopt; }).size() == 25);
}

TEST_CASE("expected improvement is the mean amount by which a normal value is below the best, or 0") {
  // At the best value itself: deviation / sqrt(2 pi). Without a deviation: the difference, if positive.
  CHECK(expected_improvement(3, 2, 3) == Approx(2 / std::sqrt(2 * std::numbers::pi)));
  CHECK(expected_improvement(1, 0, 3) == 2);
  CHECK(expected_improvement(5, 0, 3) == 0);
  CHECK(expected_improvement(-100, 1, 0) == Approx(100));
  // Numerical integral over the density at 100,000 points.
  double sum = 0;
  const double mean = 1.3, deviation = 0.7, best = 1, width = 1e-4;
  for (double v = mean - 8 * deviation; v < best; v += width) {
    const double z = (v - mean) / deviation;
    sum += (best - v) * std::exp(-0.5 * z * z) / (deviation * std::sqrt(2 * std::numbers::pi)) * width;
  }
  CHECK(expected_improvement(mean, deviation, best) == Approx(sum).epsilon(1e-3));
}

TEST_CASE("a forest is most accurate at known points, and less certain elsewhere") {
  const Space space = grid_of({9, 9});
  std::vector<Known> known;
  for (std::size_t i = 0; i < space.size(); i += 7) known.push_back({i, 2.0 * space.at(i)[0] - space.at(i)[1]});
  const Forest forest(space, known, 1);
  double error = 0, error_of_known = 0, spread = 0, mean = 0, unsure = 0, unsure_of_known = 0;
  for (std::size_t i = 0; i < space.size(); ++i) mean += (2.0 * space.at(i)[0] - space.at(i)[1]) / 81;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const double value = 2.0 * space.at(i)[0] - space.at(i)[1];
    error += std::pow(forest.guess(i).mean - value, 2);
    spread += std::pow(value - mean, 2);
    unsure += forest.guess(i).deviation / 81;
  }
  for (const Known& one : known) {
    error_of_known += std::pow(forest.guess(one.point).mean - one.value, 2);
    unsure_of_known += forest.guess(one.point).deviation / static_cast<double>(known.size());
  }
  INFO(error / spread << " " << error_of_known / 12 / (error / 81) << " " << unsure_of_known / unsure);
  CHECK(error < 0.2 * spread);  // the error over a plane, from a seventh of its points
  CHECK(error_of_known / 12 < 0.6 * error / 81);
  CHECK(unsure_of_known < 0.95 * unsure);
}

TEST_CASE("a forest that knows one point guesses that everywhere") {
  const Space space = grid_of({3, 3});
  const Forest forest(space, {{4, 2.5}}, 1);
  CHECK(forest.guess(0).mean == 2.5);
  CHECK(forest.guess(0).deviation == 0);
}

TEST_CASE("names without an order are split one against the others") {
  // b is special, and is between a and c only in the list: one cut separates it from both.
  Space space({{"name", {"a", "b", "c"}, false}, {"other", numbers_to(8), true}});
  for (int n = 0; n < 3; ++n)
    for (int o = 0; o < 8; ++o) space.add(std::vector{n, o});
  std::vector<Known> known;
  for (std::size_t i = 0; i < space.size(); i += 2) known.push_back({i, space.at(i)[0] == 1 ? 5.0 : 1.0});
  const Forest forest(space, known, 3);
  CHECK(forest.guess(9).mean > 3.5);
  CHECK(forest.guess(1).mean < 2.5);
  CHECK(forest.guess(17).mean < 2.5);
}

TEST_CASE("the Pareto front is every point that none beats in one respect and equals in the other") {
  SearchRandom random(2);
  for (int round = 0; round < 200; ++round) {
    // Few different values, so that many are equal.
    std::vector<TwoCosts> points(1 + below(40, random));
    for (TwoCosts& p : points) p = {static_cast<double>(below(9, random)), static_cast<double>(below(9, random))};
    std::set<std::size_t> expected;
    for (std::size_t i = 0; i < points.size(); ++i) {
      bool beaten = false;
      for (std::size_t j = 0; j < points.size(); ++j) {
        const bool no_worse = points[j].first <= points[i].first && points[j].second <= points[i].second;
        const bool equal = points[j].first == points[i].first && points[j].second == points[i].second;
        beaten |= no_worse && (!equal || j < i);
      }
      if (!beaten) expected.insert(i);
    }
    const auto front = pareto_front(points);
    CHECK(std::set<std::size_t>(front.begin(), front.end()) == expected);
    for (std::size_t i = 1; i < front.size(); ++i) {
      CHECK(points[front[i - 1]].first < points[front[i]].first);
      CHECK(points[front[i - 1]].second > points[front[i]].second);
    }
  }
  CHECK(pareto_front({}).empty());
}

TEST_CASE("for a sum over independent knobs each importance is its share of the variance") {
  // f = 3 x + y on 0…4 and 0…9: variances 9 · (25 - 1)/12 = 18 and (100 - 1)/12 = 8.25.
  const Space space = grid_of({5, 10, 3});
  std::vector<Known> known;
  for (std::size_t i = 0; i < space.size(); ++i) known.push_back({i, 3.0 * space.at(i)[0] + space.at(i)[1]});
  const auto indices = first_order_indices(space, known);
  CHECK(indices[0] == Approx(18 / 26.25));
  CHECK(indices[1] == Approx(8.25 / 26.25));
  CHECK(indices[2] == Approx(0).margin(1e-12));
}

TEST_CASE("for Ishigami's function the indices are those of the closed form") {
  // sin x + 7 sin² y + 0.1 z⁴ sin x on -pi … pi (Ishigami and Homma 1990; a = 7, b = 0.1): variances
  //   V = a²/8 + b pi⁴/5 + b² pi⁸/18 + 1/2,  V_x = (1 + b pi⁴/5)²/2,  V_y = a²/8,  V_z = 0: z acts with x alone.
  constexpr int steps = 40;
  const double pi = std::numbers::pi, a = 7, b = 0.1;
  const Space space = grid_of({steps, steps, steps});
  std::vector<Known> known;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const auto at = [&](std::size_t k) { return -pi + 2 * pi * (space.at(i)[k] + 0.5) / steps; };
    known.push_back({i, std::sin(at(0)) + a * std::pow(std::sin(at(1)), 2) + b * std::pow(at(2), 4) * std::sin(at(0))});
  }
  const double all = a * a / 8 + b * std::pow(pi, 4) / 5 + b * b * std::pow(pi, 8) / 18 + 0.5;
  const auto indices = first_order_indices(space, known);
  CHECK(indices[0] == Approx(0.5 * std::pow(1 + b * std::pow(pi, 4) / 5, 2) / all).margin(0.005));
  CHECK(indices[1] == Approx(a * a / 8 / all).margin(0.005));
  CHECK(indices[2] == Approx(0).margin(1e-9));
}

TEST_CASE("importance guessed from a fifth of the points is near that of all") {
  const Space space = grid_of({5, 10, 3});
  std::vector<Known> known;
  SearchRandom random(4);
  for (std::size_t i = 0; i < space.size(); ++i)
    if (below(5, random) == 0) known.push_back({i, 3.0 * space.at(i)[0] + space.at(i)[1]});
  const auto indices = guessed_indices(space, known, 1);
  CHECK(indices[0] == Approx(18 / 26.25).margin(0.12));
  CHECK(indices[1] == Approx(8.25 / 26.25).margin(0.12));
  CHECK(indices[2] < 0.05);
}

TEST_CASE("a point with too few values, or with one that its knob does not have, is refused") {
  Space space({{"a", {"1", "2"}}, {"b", {"x"}}});
  CHECK_THROWS_WITH(space.add(std::vector{0}), "a point has 1 value, the space 2 knobs");
  CHECK_THROWS_WITH(space.add(std::vector{2, 0}), "knob a has no value number 2");
  CHECK(space.size() == 0);
}
