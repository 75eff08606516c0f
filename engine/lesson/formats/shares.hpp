// The distribution of numbers, counted by magnitude, over a format's range: what becomes zero or infinite, and how much
// of that a scale saves.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "engine/lesson/formats/format.hpp"

namespace rankscope {

/// A format's range in powers of two, as numbers are counted (kernels/tensor/magnitude.hpp).
struct ExponentRange {
  int least = 0;              ///< numbers exist from 2^least up
  int least_normal = 0;       ///< with all digits from here; for int8, evenly spaced, from half its largest
  int last = 0;               ///< the power of two that contains the largest number
  bool last_is_whole = true;  ///< false: a part of that power of two is out of range (E4M3 ends at 1.75 times it)
};
ExponentRange exponents_of(NumberFormat format);

/// Shares of all elements, which sum to 1; all 0 if there are none.
struct FormatShares {
  double zero = 0;
  double below = 0;      ///< not zero, and less than the least number: zero, or rounded up to it
  double subnormal = 0;  ///< stored with fewer digits
  double normal = 0;
  double edge = 0;    ///< in the power of two that contains the range's end: counts do not show the part out of range
  double beyond = 0;  ///< infinite, NaN, or greater than the largest number
};
/// `counts`: by the bins of kernels/tensor/magnitude.hpp, of numbers that are first multiplied by 2^shift.
FormatShares shares_in(const ExponentRange& range, std::span<const std::int64_t> counts, int shift = 0);

/// The largest power of two by which the numbers can be multiplied without overflow; nullopt if no number is finite and
/// not zero, or if the largest is in the outermost bin, which is unbounded.
std::optional<int> largest_shift(const ExponentRange& range, std::span<const std::int64_t> counts);

}  // namespace rankscope
