// How reports for a terminal write figures. What is not known, nan, is a dash.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>

namespace rankscope::figure {

constexpr const char* dash = "-";

/// As printf writes it, of up to 255 characters.
template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

inline std::string number(double value, const char* pattern) {
  return std::isnan(value) ? dash : format(pattern, value);
}

/// A share of 1.
inline std::string percent(double share) { return number(100 * share, "%.1f %%"); }

inline std::string duration(double seconds) {
  if (seconds < 1e-3) return number(seconds * 1e6, "%.1f us");
  return seconds < 1 ? number(seconds * 1e3, "%.3f ms") : number(seconds, "%.3f s");
}

}  // namespace rankscope::figure
