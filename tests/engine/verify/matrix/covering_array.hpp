// A covering array: rows of option values so that every pair of values of two options that can stand together does so
// in some row (Cohen et al. 1997, "The AETG system"; greedy, so the rows are few but not fewest).
#pragma once
#include <functional>
#include <random>
#include <vector>

namespace rankscope::testing {

using Row = std::vector<int>;  ///< by option: the index of its value

struct CoveringArray {
  std::vector<Row> rows;
  int pairs = 0;       ///< that stand in some row
  int impossible = 0;  ///< for which no valid row was found
};

/// `values` has the number of values of each option. Rows beyond those that cover all pairs are added, each with as
/// many new triples as a few tries find, until there are `least_rows`.
CoveringArray covering_array(const std::vector<int>& values, const std::function<bool(const Row&)>& is_valid,
                             std::size_t least_rows, std::uint64_t seed);

}  // namespace rankscope::testing
