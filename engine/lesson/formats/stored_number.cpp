#include "engine/lesson/formats/stored_number.hpp"

#include <cmath>
#include <limits>

#include "engine/op/word_list.hpp"

namespace rankscope {
namespace {

/// a + b with the last bit set if the sum is not exact ("rounding to odd"): a second rounding, to a format of fewer
/// bits, then gives the same result as one rounding of the exact sum (Boldo and Melquiond 2008).
double sum_to_odd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  const double b_part = sum - a, error = (a - (sum - b_part)) + (b - b_part);  // Knuth's two-sum
  int exponent = 0;
  const double mantissa = std::ldexp(std::frexp(sum, &exponent), std::numeric_limits<double>::digits);
  if (error == 0 || std::fmod(mantissa, 2) != 0) return sum;
  return std::nextafter(sum, error > 0 ? HUGE_VAL : -HUGE_VAL);
}

RoundingOutcome outcome_of(NumberFormat format, double asked, double value, double scale) {
  if (!std::isfinite(asked)) return RoundingOutcome::no_number;
  const FormatRange range = range_of(format);
  if (!std::isfinite(value)) return RoundingOutcome::overflow;
  if (asked != 0 && value == 0) return RoundingOutcome::underflow;
  if (facts_of(format).is_integer()) {
    const double lowest = -range.largest - 1, units = asked / scale;
    if (units >= range.largest + 0.5 || units < lowest - 0.5) return RoundingOutcome::overflow;
  } else if (value != 0 && std::fabs(value) < range.least_normal * scale) {
    return RoundingOutcome::subnormal;
  }
  return value == asked ? RoundingOutcome::exact : RoundingOutcome::rounded;
}

}  // namespace

constexpr auto rounding_outcome_names =
    word_list("exact", "rounded", "subnormal", "underflow", "overflow", "no number");
static_assert(rounding_outcome_names.size() == static_cast<int>(RoundingOutcome::no_number) + 1);
std::string_view name_of(RoundingOutcome outcome) { return word_at(rounding_outcome_names, outcome); }

double StoredNumber::relative_error() const { return asked == 0 ? error() : error() / std::fabs(asked); }

StoredNumber store(NumberFormat format, double value, double scale) {
  const std::uint32_t bits = rounded_bits(format, value / scale);
  const double stored = value_of_bits(format, bits) * scale;
  return {bits, value, stored, outcome_of(format, value, stored, scale), spacing_at(format, bits) * scale};
}

StoredNumber store_bits(NumberFormat format, std::uint32_t bits, double scale) {
  const double value = value_of_bits(format, bits) * scale;
  return {bits, value, value, outcome_of(format, value, value, scale), spacing_at(format, bits) * scale};
}

StoredUpdate add_update(NumberFormat format, double weight, double update, double scale) {
  const double before = store(format, weight, scale).value;
  return {before, store(format, sum_to_odd(before, update), scale).value, update};
}

}  // namespace rankscope
