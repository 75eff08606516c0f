// A covering array: rows of option values in which every possible pair of values of two options occurs (Cohen et al.
// 1997, "The AETG system"; greedy, so there are few rows, but not the fewest).
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
  int pairs = 0;                 ///< number of pairs that occur in a row
  std::vector<Pair> impossible;  ///< pairs without a valid row; in order
};

/// `values` has the number of values of each option. After all pairs are covered, rows are added until there are
/// `least_rows`; each has the most new triples that a few tries find.
CoveringArray covering_array(const std::vector<int>& values, const std::function<bool(const Row&)>& is_valid,
                             std::size_t least_rows, std::uint64_t seed);

}  // namespace rankscope::testing
