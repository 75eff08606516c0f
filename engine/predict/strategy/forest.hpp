// A surrogate model: trees that estimate a point's value, with its uncertainty, from points with known values.
//
// Extremely randomised trees (Geurts, Ernst and Wehenkel 2006, Machine Learning 63): at a node each knob is tried
// with a probability of one half, at one random cut; the cut with the least remaining variance is used, until a leaf
// has two points at most. The mean of the trees is the estimate, and their deviation its uncertainty (as in SMAC;
// Hutter, Hoos and Leyton-Brown 2011, section 4.1).
#pragma once
#include <cstdint>
#include <random>

#include "engine/predict/strategy/space.hpp"

namespace rankscope {

/// The C++ standard defines this generator, so a seed gives the same numbers everywhere; the standard's distributions
/// are not used, since they differ between libraries.
using SearchRandom = std::mt19937_64;
/// 0 … n - 1; n > 0.
std::size_t below(std::size_t n, SearchRandom& random);

struct Known {
  std::size_t point = 0;
  double value = 0;
};

struct Guess {
  double mean = 0, deviation = 0;
};

class Forest {
 public:
  /// `known` is not empty. The space must outlive it.
  Forest(const Space& space, const std::vector<Known>& known, std::uint64_t seed, int trees = 64);
  Guess guess(std::size_t point) const;

 private:
  struct Node {
    int knob = -1;     ///< that is cut; -1: a leaf
    int cut = 0;       ///< goes left: below it, or equal to it where values have no order
    int right = 0;     ///< the left child is the next node
    double value = 0;  ///< of a leaf
  };
  using Tree = std::vector<Node>;
  void grow(Tree& tree, std::span<Known> known, SearchRandom& random) const;
  bool goes_left(const Node& node, std::size_t point) const;

  const Space& space_;
  std::vector<Tree> trees_;
};

}  // namespace rankscope
