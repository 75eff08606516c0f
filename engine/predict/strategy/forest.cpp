#include "engine/predict/strategy/forest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace rankscope {
namespace {

constexpr std::size_t fewest_to_cut = 3;  ///< known points; two share a leaf and its mean value

/// Of values that are added one by one.
struct Sum {
  double count = 0, sum = 0, squares = 0;
  void add(double value) {
    ++count;
    sum += value;
    squares += value * value;
  }
  /// The sum of squared deviations from the mean.
  double spread() const { return count > 0 ? std::max(0.0, squares - sum * sum / count) : 0; }
};

/// The least and the greatest value of a knob in the points.
struct KnobRange {
  std::size_t knob;
  int low, high;
};

/// Of the knobs in which the points differ.
std::vector<KnobRange> ranges_of(const Space& space, std::span<const Known> known) {
  std::vector<KnobRange> ranges;
  for (std::size_t k = 0; k < space.knobs().size(); ++k) {
    KnobRange range{k, space.at(known.front().point)[k], space.at(known.front().point)[k]};
    for (const Known& one : known) {
      range.low = std::min(range.low, space.at(one.point)[k]);
      range.high = std::max(range.high, space.at(one.point)[k]);
    }
    if (range.low < range.high) ranges.push_back(range);
  }
  return ranges;
}

}  // namespace

std::size_t below(std::size_t n, SearchRandom& random) {
  // Numbers of the last, incomplete round are drawn again: all n are equally likely.
  const std::uint64_t rest = (SearchRandom::max() % n + 1) % n;
  for (;;)
    if (const std::uint64_t drawn = random(); drawn <= SearchRandom::max() - rest)
      return static_cast<std::size_t>(drawn % n);
}

Forest::Forest(const Space& space, const std::vector<Known>& known, std::uint64_t seed, int trees) : space_(space) {
  if (known.empty()) throw std::invalid_argument("a forest needs at least one known point");
  SearchRandom random(seed);
  std::vector<Known> points = known;
  trees_.resize(static_cast<std::size_t>(trees));
  for (Tree& tree : trees_) grow(tree, points, random);
}

bool Forest::goes_left(const Node& node, std::size_t point) const {
  const auto knob = static_cast<std::size_t>(node.knob);
  const int value = space_.at(point)[knob];
  return space_.knobs()[knob].ordered ? value < node.cut : value == node.cut;
}

void Forest::grow(Tree& tree, std::span<Known> known, SearchRandom& random) const {
  const std::size_t here = tree.size();
  tree.emplace_back();
  Sum all;
  for (const Known& one : known) all.add(one.value);
  tree[here].value = all.sum / all.count;
  if (std::all_of(known.begin(), known.end(), [&](const Known& one) { return one.value == known.front().value; })) {
    tree[here].value = known.front().value;
    return;
  }
  if (known.size() < fewest_to_cut) return;
  Node best;
  double least = std::numeric_limits<double>::infinity();
  const std::vector<KnobRange> ranges = ranges_of(space_, known);
  while (best.knob < 0 && !ranges.empty())
    for (const auto& [k, low, high] : ranges) {
      if (below(2, random) == 0) continue;
      Node node;
      node.knob = static_cast<int>(k);
      node.cut = space_.knobs()[k].ordered
                     ? low + 1 + static_cast<int>(below(static_cast<std::size_t>(high - low), random))
                     : space_.at(known[below(known.size(), random)].point)[k];
      Sum left, right;
      for (const Known& one : known) (goes_left(node, one.point) ? left : right).add(one.value);
      if (const double spread = left.spread() + right.spread(); spread < least) {
        least = spread;
        best = node;
      }
    }
  if (best.knob < 0) return;  // the same point, known more than once
  const auto middle =
      std::partition(known.begin(), known.end(), [&](const Known& one) { return goes_left(best, one.point); });
  const auto count = static_cast<std::size_t>(middle - known.begin());
  grow(tree, known.subspan(0, count), random);
  best.right = static_cast<int>(tree.size());
  best.value = tree[here].value;
  tree[here] = best;
  grow(tree, known.subspan(count), random);
}

Guess Forest::guess(std::size_t point) const {
  Sum values;
  for (const Tree& tree : trees_) {
    std::size_t node = 0;
    while (tree[node].knob >= 0)
      node = goes_left(tree[node], point) ? node + 1 : static_cast<std::size_t>(tree[node].right);
    values.add(tree[node].value);
  }
  return {values.sum / values.count, std::sqrt(values.spread() / values.count)};
}

}  // namespace rankscope
