// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/time_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace rankscope {
namespace {

struct Unit {
  std::int64_t ns;
  const char* name;
};
constexpr Unit units[] = {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "µs"}, {1, "ns"}};

// The largest unit that is not larger than `ns`.
Unit unit_for(std::int64_t ns) {
  const std::int64_t size = std::llabs(ns);
  for (const Unit& unit : units)
    if (size >= unit.ns) return unit;
  return units[3];
}

// The number of decimals of `unit` with which multiples of `interval_ns` differ.
int decimals_for(Unit unit, std::int64_t interval_ns) {
  int decimals = 0;
  for (std::int64_t step = unit.ns; step > interval_ns && decimals < 9; step /= 10) ++decimals;
  return decimals;
}

std::string number(double value, int decimals) {
  return fmt::format("{:.{}f}", value, decimals);  // with a point in every locale, unlike printf
}

// Smallest 1, 2 or 5 times a power of ten that is at least `ns`.
std::int64_t round_up(double ns) {
  std::int64_t decade = 1;
  while (decade < 1'000'000'000'000'000'000 && static_cast<double>(decade) * 5 < ns) decade *= 10;
  for (const int factor : {1, 2, 5})
    if (static_cast<double>(decade) * factor >= ns) return decade * factor;
  return decade * 10;
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace

TimeTicks time_ticks(TimeRange visible, std::int64_t origin_ns, int most) {
  TimeTicks result;
  if (visible.empty() || most < 1) return result;
  const std::int64_t interval = round_up(static_cast<double>(visible.length()) / most);
  result.interval_ns = interval;
  const std::int64_t farthest =
      std::max(std::llabs(visible.begin_ns - origin_ns), std::llabs(visible.end_ns - origin_ns));
  // The unit depends on the distance between ticks, unless numbers become long: far from the origin it is larger, so
  // that ticks every 500 µs are labelled 0.5, 1.0 ms.
  Unit unit = unit_for(interval);
  if (farthest >= 10'000 * unit.ns || (farthest >= 1000 * unit.ns && interval >= 100 * unit.ns))
    for (const Unit& larger : units)
      if (farthest >= larger.ns) {
        unit = larger;
        break;
      }
  result.unit = unit.name;
  const int decimals = decimals_for(unit, interval);
  const std::int64_t first = floor_divide(visible.begin_ns - origin_ns + interval - 1, interval);
  const std::int64_t last = floor_divide(visible.end_ns - origin_ns, interval);
  for (std::int64_t i = first; i <= last; ++i)
    result.ticks.push_back(
        {origin_ns + i * interval,
         number(static_cast<double>(i) * (static_cast<double>(interval) / static_cast<double>(unit.ns)), decimals)});
  return result;
}

std::string duration_text(std::int64_t ns) {
  Unit unit = unit_for(ns);
  double value = static_cast<double>(ns) / static_cast<double>(unit.ns);
  // 999.7 µs has three digits as 1.00 ms.
  if (std::fabs(value) >= 999.5 && unit.ns < 1'000'000'000) {
    unit = unit_for(std::llround(static_cast<double>(unit.ns) * 1000));
    value = static_cast<double>(ns) / static_cast<double>(unit.ns);
  }
  const double size = std::fabs(value);
  const int decimals = unit.ns == 1 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return number(value, decimals) + " " + unit.name;
}

std::string position_text(std::int64_t ns, std::int64_t resolution_ns) {
  const Unit unit = unit_for(ns == 0 ? resolution_ns * 100 : ns);
  const int decimals = decimals_for(unit, std::max<std::int64_t>(resolution_ns, 1));
  return number(static_cast<double>(ns) / static_cast<double>(unit.ns), decimals) + " " + unit.name;
}

std::string percent_text(double share) { return std::isfinite(share) ? number(share * 100, 1) + " %" : "–"; }

}  // namespace rankscope
