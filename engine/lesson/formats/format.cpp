#include "engine/lesson/formats/format.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/op/words.hpp"

namespace rankscope {
namespace {

constexpr FormatFacts facts[] = {
    {NumberFormat::fp32, "fp32", 8, 23},       {NumberFormat::tf32, "TF32", 8, 10},
    {NumberFormat::bf16, "bf16", 8, 7},        {NumberFormat::fp16, "fp16", 5, 10},
    {NumberFormat::e4m3, "E4M3", 4, 3, false}, {NumberFormat::e5m2, "E5M2", 5, 2},
    {NumberFormat::int8, "int8", 0, 7, false},
};

/// Bits of the largest number, without a sign. The next values are infinity and NaN, or only NaN.
std::uint32_t largest_bits(const FormatFacts& f) {
  if (f.is_integer()) return f.magnitude_mask();
  if (!f.infinities) return f.magnitude_mask() - 1;
  return (((std::uint32_t{1} << f.exponent_bits) - 1) << f.mantissa_bits) - 1;
}

/// To the nearest integer, ties to even, for any rounding mode.
double to_nearest_even(double value) {
  const double low = std::floor(value), part = value - low;
  if (part != 0.5) return part < 0.5 ? low : low + 1;
  return std::fmod(low, 2) == 0 ? low : low + 1;
}

/// The exponent of the least normal number.
int least_exponent_of(const FormatFacts& f) { return 1 - f.bias(); }

std::uint32_t rounded_integer(const FormatFacts& f, double value) {
  if (std::isnan(value)) return 0;
  const auto limit = static_cast<double>(f.sign_mask());
  const double held = std::clamp(to_nearest_even(std::clamp(value, -2 * limit, 2 * limit)), -limit, limit - 1);
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(held)) & (f.sign_mask() | f.magnitude_mask());
}

}  // namespace

const FormatFacts& facts_of(NumberFormat format) { return facts[static_cast<std::size_t>(format)]; }

std::optional<NumberFormat> number_format_named(std::string_view name) {
  for (const FormatFacts& f : facts)
    if (lowered(name) == lowered(f.name)) return f.format;
  return std::nullopt;
}

std::uint32_t rounded_bits(NumberFormat format, double value) {
  const FormatFacts& f = facts_of(format);
  if (f.is_integer()) return rounded_integer(f, value);
  const std::uint32_t sign = std::signbit(value) ? f.sign_mask() : 0;
  const std::uint32_t beyond = largest_bits(f) + 1;  // infinity; for E4M3 the NaN
  if (std::isnan(value)) return sign | (f.infinities ? beyond | std::uint32_t{1} << (f.mantissa_bits - 1) : beyond);
  if (std::isinf(value)) return sign | beyond;
  const double magnitude = std::fabs(value);
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude = m * 2^exponent, 1/2 <= m < 1
  exponent = magnitude == 0 ? least_exponent_of(f) : std::max(exponent - 1, least_exponent_of(f));
  if (exponent > 2 * f.bias()) return sign | beyond;
  // In units of the last place, which is exact; a carry increases the exponent by itself.
  const double units = to_nearest_even(std::ldexp(magnitude, f.mantissa_bits - exponent));
  const std::uint32_t bits = (static_cast<std::uint32_t>(exponent - least_exponent_of(f)) << f.mantissa_bits) +
                             static_cast<std::uint32_t>(units);
  return sign | std::min(bits, beyond);
}

double value_of_bits(NumberFormat format, std::uint32_t bits) {
  const FormatFacts& f = facts_of(format);
  const std::uint32_t magnitude = bits & f.magnitude_mask();
  const bool negative = (bits & f.sign_mask()) != 0;
  if (f.is_integer()) return static_cast<double>(magnitude) - (negative ? static_cast<double>(f.sign_mask()) : 0.0);
  double value = 0;
  if (magnitude > largest_bits(f)) {
    const bool infinite = f.infinities && magnitude == largest_bits(f) + 1;
    value = infinite ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else {
    const auto exponent = static_cast<int>(magnitude >> f.mantissa_bits);
    const std::uint32_t fraction = magnitude & ((std::uint32_t{1} << f.mantissa_bits) - 1);
    const std::uint32_t units = exponent == 0 ? fraction : fraction | std::uint32_t{1} << f.mantissa_bits;
    value = std::ldexp(static_cast<double>(units), std::max(exponent, 1) - f.bias() - f.mantissa_bits);
  }
  return negative ? -value : value;
}

FormatRange range_of(NumberFormat format) {
  const FormatFacts& f = facts_of(format);
  const double largest = value_of_bits(format, largest_bits(f));
  if (f.is_integer()) return {1, 1, largest, std::log10(largest)};
  return {value_of_bits(format, 1), std::ldexp(1.0, least_exponent_of(f)), largest,
          (f.mantissa_bits + 1) * std::log10(2.0)};
}

double spacing_at(NumberFormat format, std::uint32_t bits) {
  const FormatFacts& f = facts_of(format);
  if (f.is_integer()) return 1;
  const std::uint32_t magnitude = bits & f.magnitude_mask();
  if (magnitude > largest_bits(f)) return std::numeric_limits<double>::quiet_NaN();
  return std::ldexp(1.0, std::max(static_cast<int>(magnitude >> f.mantissa_bits), 1) - f.bias() - f.mantissa_bits);
}

}  // namespace rankscope
