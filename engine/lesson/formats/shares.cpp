#include "engine/lesson/formats/shares.hpp"

#include <cmath>
#include <numeric>

#include "kernels/tensor/magnitude.hpp"

namespace rankscope {
namespace {

/// A smaller part of a power of two above the largest number is ignored: fp16's 65,504 is 2^16 minus 1/2048 of it.
constexpr double whole_within = 0.01;

}  // namespace

ExponentRange exponents_of(NumberFormat format) {
  const FormatRange range = range_of(format);
  const int last = std::ilogb(range.largest);
  const bool whole = range.largest >= std::ldexp(1 - whole_within, last + 1);
  return {std::ilogb(range.least), facts_of(format).is_integer() ? last : std::ilogb(range.least_normal), last, whole};
}

FormatShares shares_in(const ExponentRange& range, std::span<const std::int64_t> counts, int shift) {
  const auto all = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  FormatShares shares;
  if (all <= 0) return shares;
  for (int bin = 0; bin < static_cast<int>(counts.size()); ++bin) {
    const int exponent = exponent_of_bin(bin) + shift;
    double& share = bin == zero_bin                                  ? shares.zero
                    : bin >= not_finite_bin || exponent > range.last ? shares.beyond
                    : exponent < range.least                         ? shares.below
                    : exponent == range.last && !range.last_is_whole ? shares.edge
                    : exponent < range.least_normal                  ? shares.subnormal
                                                                     : shares.normal;
    share += static_cast<double>(counts[bin]) / all;
  }
  return shares;
}

std::optional<int> largest_shift(const ExponentRange& range, std::span<const std::int64_t> counts) {
  for (int bin = not_finite_bin - 1; bin > zero_bin; --bin) {
    if (bin >= static_cast<int>(counts.size()) || counts[bin] == 0) continue;
    if (bin == not_finite_bin - 1) return std::nullopt;
    return range.last - (range.last_is_whole ? 0 : 1) - exponent_of_bin(bin);
  }
  return std::nullopt;
}

}  // namespace rankscope
