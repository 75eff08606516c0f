// How messages and reports format a count with its noun, a number with its unit, and a list. Sentences are made with
// fmt::format. An unknown value (nan) is a dash.
#pragma once
#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// The plural ending of nouns that do not take an s.
inline constexpr std::string_view ending_es = "es";

/// "1 head", "2 heads"; "2 micro-batches" with ending_es.
template <std::integral Count>
std::string counted(Count count, std::string_view noun, std::string_view ending = "s") {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : ending);
}
/// The singular or plural word for a count: agreeing(n, "is", "are").
template <std::integral Count>
constexpr std::string_view agreeing(Count count, std::string_view one, std::string_view more) {
  return count == 1 ? one : more;
}

/// "a", "a and b", "a, b and c"; with another word before the last: listed(words, "or").
template <class Range>
std::string listed(const Range& items, std::string_view before_last = "and") {
  std::string text;
  const auto last = std::size(items) - 1;
  for (std::size_t i = 0; const auto& item : items) {
    if (i > 0) text += i == last ? fmt::format(" {} ", before_last) : ", ";
    text += fmt::format("{}", item);
    ++i;
  }
  return text;
}
/// Only the first ones of a long list: "0, 1, 2 and 5 more".
template <class Item>
std::string listed_up_to(std::size_t most, const std::vector<Item>& items) {
  if (items.size() <= most) return listed(items);
  const std::span first(items.data(), most);
  return fmt::format("{} and {} more", fmt::join(first, ", "), items.size() - most);
}
/// In lower case; Latin letters only.
inline std::string lowered(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}
/// Parses the complete text as a number; nullopt if it is not one, or is out of range.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

namespace figure {

inline constexpr const char* dash = "-";

/// `pattern` is fmt's, such as "{:.4g} W".
inline std::string number(double value, std::string_view pattern) {
  return std::isnan(value) ? dash : fmt::format(fmt::runtime(pattern), value);
}

/// A share of 1.
inline std::string percent(double share) { return number(100 * share, "{:.1f} %"); }

inline std::string duration(double seconds) {
  if (seconds < 1e-3) return number(seconds * 1e6, "{:.1f} us");
  return seconds < 1 ? number(seconds * 1e3, "{:.3f} ms") : number(seconds, "{:.3f} s");
}

inline std::string bytes(double value) {
  std::string_view unit = "B";
  for (const std::string_view next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (!(value >= 1024)) break;
    value /= 1024;
    unit = next;
  }
  return std::isnan(value) ? dash : fmt::format("{:.{}f} {}", value, unit == "B" ? 0 : 2, unit);
}

}  // namespace figure
}  // namespace rankscope
