// A covering array: rows of option values so that every pair of values of two options that is possible is in some row
// (Cohen et al. 1997, "The AETG system"; greedy, so the rows are few but not fewest).
#pragma once
#include <array>
#include <functional>
#include <random>
#include <vector>

namespace rankscope::testing {

using Row = std::vector<int>;  ///< by option: the index of its value

/// Two options' values: option, value, another option, its value.
using Pair = std::array<int, 4>;

struct CoveringArray {
  std::vector<Row> rows;
  int pairs = 0;                 ///< that are in some row
  std::vector<Pair> impossible;  ///< for which no valid row was found; in order
};

/// `values` has the number of values of each option. Rows beyond those that cover all pairs are added, each with as
/// many new triples as a few tries find, until there are `least_rows`.
CoveringArray covering_array(const std::vector<int>& values, const std::function<bool(const Row&)>& is_valid,
                             std::size_t least_rows, std::uint64_t seed);

}  // namespace rankscope::testing
