// Dynamic tree quantisation (Dettmers 2016, arXiv 1511.04561) of magnitudes in [0, 1], for the moments of adam8bit:
// decade e = 0 … 6 covers (10^-e-1, 10^-e] with 2^(b-e) equal bins, whose centres are the levels; b is 6 with a sign
// and 7 without. Together with 0 and exactly 1 these are 256 levels: signed -0.993 … 0 … 1, unsigned 0 … 1. Codes
// number them in ascending order.
#pragma once

namespace rankscope::kernels {

inline constexpr int decades = 7;
inline constexpr int code_of_zero = 127;  ///< signed; there is no level -1

/// The levels of one kind, and the data to find the nearest: a magnitude x (0 for zero, `top` for 1) is in the first
/// decade e with x >= border[e], there in bin x·slope[e] + shift[e] within [0, last[e]], counted from base[e].
template <class A>
struct Levels {
  A value[256] = {};  ///< by code
  A border[decades] = {}, slope[decades] = {}, shift[decades] = {}, last[decades] = {}, base[decades] = {};
  A least = 0, greatest = 0;  ///< below: zero; above: one
  int top = 0;
};

template <class A>
constexpr Levels<A> make_levels(bool is_signed) {
  const int bits = is_signed ? 6 : 7;
  Levels<A> levels;
  double magnitude[257] = {};
  double power = 1;  // 10^e
  for (int e = 0; e < decades; ++e, power *= 10) {
    const int bins = 1 << (bits - e), base = is_signed ? bins : bins - 1;
    for (int k = 0; k < bins; ++k) magnitude[base + k] = (0.1 + 0.9 * (k + 0.5) / bins) / power;
    levels.slope[e] = static_cast<A>(power * bins / 0.9);
    levels.shift[e] = static_cast<A>(-0.1 * bins / 0.9);
    levels.last[e] = static_cast<A>(bins - 0.5);
    levels.base[e] = static_cast<A>(base);
  }
  const int top = is_signed ? 128 : 255;
  magnitude[top] = 1;
  for (int e = 0; e + 1 < decades; ++e) {
    const int base = static_cast<int>(levels.base[e]);
    levels.border[e] = static_cast<A>((magnitude[base - 1] + magnitude[base]) / 2);
  }
  levels.least = static_cast<A>(magnitude[1] / 2);
  levels.greatest = static_cast<A>((magnitude[top - 1] + 1) / 2);
  levels.top = top;
  for (int code = 0; code < 256; ++code) {
    const int rank = is_signed ? code - code_of_zero : code;
    levels.value[code] = static_cast<A>(rank < 0 ? -magnitude[-rank] : magnitude[rank]);
  }
  return levels;
}

// A scale below the least normal number has no inverse: such small values become zero.
template <class A>
inline constexpr A least_scale = static_cast<A>(1.17549435e-38f);
template <>
inline constexpr double least_scale<double> = 2.2250738585072014e-308;

}  // namespace rankscope::kernels
