// Search strategies for the point of a space with the smallest value: they select the next point to try.
//
//   exhaustive  every point, in the space's order
//   random      points in a random order, without repetition (Bergstra and Bengio 2012)
//   bayes       a forest of the known points estimates the others; next is the point with the greatest expected
//               improvement (Jones, Schonlau and Welch 1998) times the probability that it does not fail, which a
//               second forest estimates (Gardner et al. 2014). Begins like `random` with the same seed. DeepHyper
//               searches training plans in this way (Dash et al. 2023, arXiv 2312.12705)
//
// One seed gives one order of points, on every machine.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "engine/predict/strategy/space.hpp"

namespace rankscope {

enum class Strategy : std::uint8_t { exhaustive, random, bayes };
inline constexpr Strategy every_strategy[] = {Strategy::exhaustive, Strategy::random, Strategy::bayes};
inline constexpr std::string_view strategy_words[] = {"exhaustive", "random", "bayes"};
constexpr std::string_view name_of(Strategy strategy) { return strategy_words[static_cast<std::size_t>(strategy)]; }

/// A point's value, which must be positive; empty if its try failed.
using TryPoint = std::function<std::optional<double>(std::size_t point)>;

struct Exploration {
  std::size_t budget = 100;  ///< points that are tried, at most; of `exhaustive` all are
  std::uint64_t seed = 1;
  std::size_t first = 10;  ///< random points before the first estimate
  std::size_t looked_at =
      2000;  ///< points whose improvement is estimated, drawn again each time; and as many near the best
};

/// Calls `attempt` for one point after the other; returns them in this order. An exception from it ends the search.
std::vector<std::size_t> explore(const Space& space, Strategy strategy, const Exploration& how,
                                 const TryPoint& attempt);

/// For a normally distributed estimate, the expected amount by which it is below `best` (0 if above).
double expected_improvement(double mean, double deviation, double best);

}  // namespace rankscope
