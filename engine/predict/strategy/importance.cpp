#include "engine/predict/strategy/importance.hpp"

namespace rankscope {
namespace {

double mean_of(const std::vector<Known>& known) {
  double sum = 0;
  for (const Known& one : known) sum += one.value;
  return sum / static_cast<double>(known.size());
}

}  // namespace

std::vector<double> first_order_indices(const Space& space, const std::vector<Known>& known) {
  std::vector<double> indices(space.knobs().size(), 0.0);
  if (known.empty()) return indices;
  const double mean = mean_of(known);
  double all = 0;
  for (const Known& one : known) all += (one.value - mean) * (one.value - mean);
  if (!(all > 0)) return indices;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    std::vector<double> sums(space.knobs()[k].values.size(), 0.0), counts(sums.size(), 0.0);
    for (const Known& one : known) {
      const auto value = static_cast<std::size_t>(space.at(one.point)[k]);
      sums[value] += one.value - mean;
      ++counts[value];
    }
    double between = 0;
    for (std::size_t v = 0; v < sums.size(); ++v)
      if (counts[v] > 0) between += sums[v] * sums[v] / counts[v];
    indices[k] = between / all;
  }
  return indices;
}

std::vector<double> guessed_indices(const Space& space, const std::vector<Known>& known, std::uint64_t seed) {
  if (known.empty()) return std::vector<double>(space.knobs().size(), 0.0);
  const Forest forest(space, known, seed);
  std::vector<Known> guessed;
  guessed.reserve(space.size());
  for (std::size_t point = 0; point < space.size(); ++point) guessed.push_back({point, forest.guess(point).mean});
  return first_order_indices(space, guessed);
}

}  // namespace rankscope
