// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/time_window.hpp"

#include <algorithm>
#include <cmath>

namespace rankscope {
namespace {

// Far outside every clock's range, and far enough from the limits of int64 that sums of two do not overflow.
constexpr double farthest_ns = 2e18;

std::int64_t whole(double ns) {
  return static_cast<std::int64_t>(std::llround(std::clamp(ns, -farthest_ns, farthest_ns)));
}

}  // namespace

TimeRange clamped(TimeRange range, TimeRange bounds) {
  if (bounds.empty()) bounds.end_ns = bounds.begin_ns + least_visible_ns;
  std::int64_t length = std::max(range.length(), least_visible_ns);
  const std::int64_t longest = std::max(bounds.length() + bounds.length() / 2, least_visible_ns);
  const std::int64_t middle = range.begin_ns + range.length() / 2;
  if (length != range.length() || length > longest) {
    length = std::min(length, longest);
    range = {middle - length / 2, middle - length / 2 + length};
  }
  const std::int64_t margin = length / 4;
  const std::int64_t first = bounds.begin_ns - margin, last = bounds.end_ns + margin;
  if (length >= last - first) {
    const std::int64_t centre = bounds.begin_ns + bounds.length() / 2;
    return {centre - length / 2, centre - length / 2 + length};
  }
  const std::int64_t begin = std::clamp(range.begin_ns, first, last - length);
  return {begin, begin + length};
}

TimeRange zoomed(TimeRange range, double factor, std::int64_t at_ns) {
  const double before = static_cast<double>(at_ns - range.begin_ns), after = static_cast<double>(range.end_ns - at_ns);
  const TimeRange result{at_ns - whole(before * factor), at_ns + whole(after * factor)};
  return result.length() < 1 ? TimeRange{at_ns, at_ns + 1} : result;
}

TimeRange moved(TimeRange range, std::int64_t by_ns) { return {range.begin_ns + by_ns, range.end_ns + by_ns}; }

TimeRange widened(TimeRange range, double share) {
  const std::int64_t by = whole(static_cast<double>(range.length()) * share);
  return {range.begin_ns - by, range.end_ns + by};
}

TimeRange intersection(TimeRange a, TimeRange b) {
  const TimeRange result{std::max(a.begin_ns, b.begin_ns), std::min(a.end_ns, b.end_ns)};
  return result.empty() ? TimeRange{} : result;
}

}  // namespace rankscope
