// How messages and reports write a count with its noun, and a number with its unit. Sentences are made with
// fmt::format. An unknown value (nan) is a dash.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace rankscope {

/// Of nouns that do not take an s.
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
