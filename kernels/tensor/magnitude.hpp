// Counts numbers by magnitude: shows how many a floating-point format can represent, and how many become zero or
// infinite in it.
#pragma once
#include <cstdint>

#include "kernels/tensor/host_device.hpp"

namespace rankscope {

/// Bins of numbers: 0 has the zeros, the last infinities and NaN, and bin b between them magnitudes from 2^e up to 2^(e
/// + 1), e = exponent_of_bin(b); the outermost of these also have all smaller or larger ones.
inline constexpr int magnitude_bins = 64, zero_bin = 0, not_finite_bin = magnitude_bins - 1;
inline constexpr int least_exponent = -44;
constexpr int exponent_of_bin(int bin) { return bin - 1 + least_exponent; }
RANKSCOPE_HOST_DEVICE constexpr int bin_of_exponent(int exponent) {
  const int bin = exponent - least_exponent + 1;
  return bin < 1 ? 1 : bin > not_finite_bin - 1 ? not_finite_bin - 1 : bin;
}

/// The bin of an IEEE number, from its bits.
RANKSCOPE_HOST_DEVICE constexpr int magnitude_bin(std::uint64_t bits, int exponent_bits, int fraction_bits) {
  const std::uint64_t magnitude = bits & ((std::uint64_t{1} << (exponent_bits + fraction_bits)) - 1);
  if (magnitude == 0) return zero_bin;
  const int most = (1 << exponent_bits) - 1, exponent = static_cast<int>(magnitude >> fraction_bits);
  if (exponent == most) return not_finite_bin;
  return bin_of_exponent(exponent - most / 2);  // subnormal numbers of fp32 and fp64 are far below the least one
}

/// Exponents of fp16's range: normal numbers from the second, subnormal numbers from the first (with fewer and fewer
/// digits), and no finite numbers from 2^(last + 1) up (IEEE 754 binary16).
inline constexpr int fp16_least_exponent = -24, fp16_least_normal_exponent = -14, fp16_last_exponent = 15;

}  // namespace rankscope
