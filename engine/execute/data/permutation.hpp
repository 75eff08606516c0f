// A shuffle that is computed, not stored: element i of a random permutation of 0 … n-1 as a function of (seed, i).
//
// A balanced Feistel network over the smallest power of four that holds n, with Philox as its round function (Luby and
// Rackoff 1988: four rounds are enough to look random), walking along its cycle until the result is below n
// (Black and Rogaway 2002): on average fewer than four evaluations.
#pragma once
#include <cstdint>

namespace rankscope {

class Permutation {
 public:
  /// Of `size` ≥ 1 elements. Different epochs of one seed are different permutations.
  Permutation(std::int64_t size, std::uint64_t seed, std::uint32_t epoch);
  /// `index` in [0, size).
  std::int64_t operator()(std::int64_t index) const;

 private:
  std::uint64_t scramble(std::uint64_t value) const;

  std::uint64_t size_, seed_, stream_;
  int half_bits_;
};

}  // namespace rankscope
