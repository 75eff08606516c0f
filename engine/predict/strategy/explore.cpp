#include "engine/predict/strategy/explore.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "engine/predict/strategy/forest.hpp"

namespace rankscope {
namespace {

/// The least probability that a point does not fail, whatever the forest estimates.
constexpr double least_probability = 0.01;
/// Knobs in which a point differs from the best one that is near it: ranks moved from one kind of parallelism to
/// another change two.
constexpr int near_knobs = 2;

/// The first n numbers of a random order of all.
void shuffle_first(std::vector<std::size_t>& all, std::size_t n, SearchRandom& random) {
  for (std::size_t i = 0; i < std::min(n, all.size()); ++i) std::swap(all[i], all[i + below(all.size() - i, random)]);
}

class Bayes {
 public:
  Bayes(const Space& space, const Exploration& how, const TryPoint& attempt)
      : space_(space), how_(how), attempt_(attempt), random_(how.seed), open_(space.size()) {
    std::iota(open_.begin(), open_.end(), std::size_t{0});
  }

  std::vector<std::size_t> run() {
    const std::size_t budget = std::min(how_.budget, space_.size());
    shuffle_first(open_, std::min(how_.first, budget), random_);
    while (order_.size() < std::min(how_.first, budget)) take(order_.size());
    // Tried points are first in open_.
    while (order_.size() < budget) take(order_.size() + next());
    return order_;
  }

 private:
  void take(std::size_t at) {
    std::swap(open_[order_.size()], open_[at]);
    const std::size_t point = open_[order_.size()];
    order_.push_back(point);
    const std::optional<double> value = attempt_(point);
    ran_.push_back({point, value ? 1.0 : 0.0});
    if (!value) return;
    known_.push_back({point, std::log(*value)});
    if (known_.size() == 1 || known_.back().value < known_[best_].value) best_ = known_.size() - 1;
  }

  /// The next of the remaining points, as an index from the first of these.
  std::size_t next() {
    const std::span<std::size_t> left = std::span(open_).subspan(order_.size());
    // First a sample of them, then those near the best one.
    for (std::size_t i = 0; i < std::min(how_.looked_at, left.size()); ++i)
      std::swap(left[i], left[i + below(left.size() - i, random_)]);
    std::size_t looked_at = std::min(how_.looked_at, left.size());
    if (!known_.empty()) {
      const std::size_t most = std::min(2 * how_.looked_at, left.size());
      for (std::size_t i = looked_at; i < left.size() && looked_at < most; ++i)
        if (space_.distance(left[i], known_[best_].point) <= near_knobs) std::swap(left[i], left[looked_at++]);
    }
    const bool some_failed = known_.size() < ran_.size();
    const std::optional<Forest> times =
        known_.empty() ? std::nullopt : std::optional<Forest>(std::in_place, space_, known_, random_());
    const std::optional<Forest> chances =
        some_failed ? std::optional<Forest>(std::in_place, space_, ran_, random_()) : std::nullopt;
    std::size_t chosen = 0;
    double most = -1;
    for (std::size_t i = 0; i < looked_at; ++i) {
      double gain = 1;
      if (times) {
        const Guess guess = times->guess(left[i]);
        gain = expected_improvement(guess.mean, guess.deviation, known_[best_].value);
      }
      if (chances) gain *= std::max(least_probability, chances->guess(left[i]).mean);
      if (gain > most) {
        most = gain;
        chosen = i;
      }
    }
    return chosen;
  }

  const Space& space_;
  const Exploration& how_;
  const TryPoint& attempt_;
  SearchRandom random_;
  std::vector<std::size_t> open_;  ///< all points: tried ones, then the others
  std::vector<std::size_t> order_;
  std::vector<Known> known_;  ///< logarithms: plans differ by factors
  std::vector<Known> ran_;    ///< 1 if it ran, 0 if it failed
  std::size_t best_ = 0;      ///< of known_
};

}  // namespace

std::vector<std::size_t> explore(const Space& space, Strategy strategy, const Exploration& how,
                                 const TryPoint& attempt) {
  if (strategy == Strategy::bayes) return Bayes(space, how, attempt).run();
  std::vector<std::size_t> order(space.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (strategy == Strategy::random) {
    SearchRandom random(how.seed);
    shuffle_first(order, how.budget, random);
    order.resize(std::min(how.budget, order.size()));
  }
  for (const std::size_t point : order) attempt(point);
  return order;
}

double expected_improvement(double mean, double deviation, double best) {
  const double less = best - mean;
  if (!(deviation > 0)) return std::max(0.0, less);
  const double z = less / deviation;
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
  const double share = 0.5 * std::erfc(-z / std::numbers::sqrt2);
  return std::max(0.0, less * share + deviation * density);
}

}  // namespace rankscope
