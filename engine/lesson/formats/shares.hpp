// Where numbers that were counted by magnitude fall in a format's range: what becomes zero or infinite there, and how
// much of that a scale saves.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "engine/lesson/formats/format.hpp"

namespace rankscope {

/// A format's range in powers of two, as numbers are counted (kernels/tensor/magnitude.hpp).
struct ExponentRange {
  int least = 0;         ///< numbers at all from 2^least up
  int least_normal = 0;  ///< with all digits from here; of int8, whose numbers are evenly spaced, from half its largest
  int last = 0;          ///< the power of two in which the largest number lies
  bool last_is_whole = true;  ///< false: a part of that power of two is beyond (E4M3 ends at 1.75 times it)
};
ExponentRange exponents_of(NumberFormat format);

/// Shares of all elements, which sum to 1; all 0 of none.
struct FormatShares {
  double zero = 0;
  double below = 0;      ///< not zero, and less than the least number: zero, or rounded up to it
  double subnormal = 0;  ///< held with fewer digits
  double normal = 0;
  double edge = 0;    ///< in the power of two in which the range ends: counts do not show what part is beyond
  double beyond = 0;  ///< infinite, no number, or greater than what is held
};
/// `counts`: by the bins of kernels/tensor/magnitude.hpp, of numbers that are multiplied by 2^shift first.
FormatShares shares_in(const ExponentRange& range, std::span<const std::int64_t> counts, int shift = 0);

/// The largest power of two that the numbers may be multiplied by with nothing beyond the range; nullopt where no
/// number is finite and not zero, or where the largest is in the outermost bin, which has no end.
std::optional<int> largest_shift(const ExponentRange& range, std::span<const std::int64_t> counts);

}  // namespace rankscope
