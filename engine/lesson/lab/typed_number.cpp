#include "engine/lesson/lab/typed_number.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "engine/lesson/lab/expression.hpp"
#include "engine/op/not_known.hpp"

namespace rankscope {
namespace {

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::string names_of_formats() {
  std::string names;
  for (const NumberFormat format : every_number_format)
    names += (names.empty() ? "" : ", ") + std::string(facts_of(format).name);
  return names;
}

std::optional<TypedNumber> typed_bits(NumberFormat format, std::string_view digits, std::string& why) {
  const FormatFacts& f = facts_of(format);
  std::uint64_t bits = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  if (digits.empty() || stop != digits.data() + digits.size() || error == std::errc::invalid_argument) {
    why = fmt::format("'0x{}' has no bits: behind 0x are digits from 0 to 9 and from a to f", digits);
    return std::nullopt;
  }
  if (error != std::errc() || bits >> f.bits() != 0) {
    why = fmt::format("0x{} has more than the {} bits of {}", digits, f.bits(), f.name);
    return std::nullopt;
  }
  const auto own = static_cast<std::uint32_t>(bits);
  return TypedNumber{value_of_bits(format, own), format, own};
}

bool is_hexadecimal(std::string_view text) { return text.starts_with("0x") || text.starts_with("0X"); }

}  // namespace

std::optional<TypedNumber> typed_number(std::string_view text, std::string* why) {
  std::string reason;
  std::string& fault = why != nullptr ? *why : reason;
  text = without_blanks(text);
  if (text.empty()) {
    fault = "there is no number; write it as 1.001, 2^-24 or 0x3f802108";
    return std::nullopt;
  }
  if (is_hexadecimal(text)) return typed_bits(NumberFormat::fp32, text.substr(2), fault);
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    const std::string_view bits = without_blanks(text.substr(colon + 1));
    const auto format = number_format_named(without_blanks(text.substr(0, colon)));
    if (!format) {
      fault = fmt::format("there is no format '{}'; known: {}", text.substr(0, colon), names_of_formats());
      return std::nullopt;
    }
    if (is_hexadecimal(bits)) return typed_bits(*format, bits.substr(2), fault);
    fault = fmt::format("behind '{}:' are bits, as in {}:0x1", text.substr(0, colon), facts_of(*format).name);
    return std::nullopt;
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (text == "inf" || text == "+inf") return TypedNumber{infinity};
  if (text == "-inf") return TypedNumber{-infinity};
  if (text == "nan") return TypedNumber{not_known};
  const auto value = evaluate(text, &fault);
  if (!value) return std::nullopt;
  return TypedNumber{*value};
}

}  // namespace rankscope
