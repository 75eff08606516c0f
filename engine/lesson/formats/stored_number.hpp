// The value of a number stored in a format, and whether a weight changes when a small update is added to it.
#pragma once
#include <cstdint>
#include <string_view>

#include "engine/lesson/formats/format.hpp"

namespace rankscope {

enum class RoundingOutcome : std::uint8_t {
  exact,
  rounded,
  subnormal,  ///< rounded or not: stored with fewer digits
  underflow,  ///< not zero, but becomes zero
  overflow,   ///< finite, but becomes infinite or NaN, or saturates at the format's largest number
  no_number   ///< was infinite or NaN before
};
std::string_view name_of(RoundingOutcome outcome);

/// A number as a format stores it: bits times a scale. Only int8 needs a scale to store 0.3; fp8 usually has one, too.
struct StoredNumber {
  std::uint32_t bits = 0;
  double asked = 0, value = 0;
  RoundingOutcome outcome = RoundingOutcome::exact;
  double spacing = 0;  ///< to the next larger magnitude
  /// The rounding error; 0 if exact, NaN if either value is not finite.
  double error() const { return value - asked; }
  double relative_error() const;
};
/// `scale` must be above zero.
StoredNumber store(NumberFormat format, double value, double scale = 1);
StoredNumber store_bits(NumberFormat format, std::uint32_t bits, double scale = 1);

/// weight + update, with the weight stored in the format; the sum is computed exactly and rounded to the format once.
struct StoredUpdate {
  double before = 0, after = 0;
  double asked = 0;  ///< the update
  bool lost() const { return before == after && asked != 0; }
  double moved() const { return after - before; }
};
StoredUpdate add_update(NumberFormat format, double weight, double update, double scale = 1);

}  // namespace rankscope
