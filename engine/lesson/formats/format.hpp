// The number formats used in training, to bits and back: fp32, TF32, bf16 and fp16 (IEEE 754's rules), the two kinds of
// fp8 (Micikevicius et al. 2022, arXiv 2209.05433; Open Compute Project, OFP8 1.0), and int8.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rankscope {

enum class NumberFormat : std::uint8_t { fp32, tf32, bf16, fp16, e4m3, e5m2, int8 };
inline constexpr std::array every_number_format{NumberFormat::fp32, NumberFormat::tf32, NumberFormat::bf16,
                                                NumberFormat::fp16, NumberFormat::e4m3, NumberFormat::e5m2,
                                                NumberFormat::int8};

/// Properties of a format. Its bits are, from the highest: sign, exponent, mantissa. int8 is an integer in two's
/// complement: seven bits of "mantissa" after the sign, and no exponent.
struct FormatFacts {
  NumberFormat format = NumberFormat::fp32;
  std::string_view name{};
  int exponent_bits = 0, mantissa_bits = 0;
  bool infinities = true;  ///< E4M3 has none: the highest exponent has numbers, and one mantissa there is NaN
  constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
  constexpr bool is_integer() const { return exponent_bits == 0; }
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }  ///< of formats with an exponent
  constexpr std::uint32_t magnitude_mask() const { return (std::uint32_t{1} << (bits() - 1)) - 1; }
  constexpr std::uint32_t sign_mask() const { return std::uint32_t{1} << (bits() - 1); }
};
const FormatFacts& facts_of(NumberFormat format);
/// By its name, in any case: "bf16", "E4M3", "tf32".
std::optional<NumberFormat> number_format_named(std::string_view name);

/// The bits of the number nearest to `value`; of two, the one whose last bit is 0. Above the largest number: infinity;
/// E4M3 becomes NaN; int8 saturates, and has 0 for NaN.
std::uint32_t rounded_bits(NumberFormat format, double value);
/// The value of bits. Bits above the format's own are ignored.
double value_of_bits(NumberFormat format, std::uint32_t bits);

/// The range of a format, by magnitude. int8 has integers, evenly spaced: 1, 1 and 127.
struct FormatRange {
  double least = 0;         ///< above zero: the smallest subnormal number
  double least_normal = 0;  ///< all digits from here up
  double largest = 0;
  double digits = 0;  ///< decimal digits of a normal number; int8: of its largest
};
FormatRange range_of(NumberFormat format);

/// From the number with these bits to the next larger magnitude in the same power of two; NaN if it is not a number.
double spacing_at(NumberFormat format, std::uint32_t bits);

}  // namespace rankscope
