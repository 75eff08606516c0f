// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/common/axis.hpp"

#include <cmath>

namespace rankscope::app {
namespace {

Axis labelled(double high, double unit, const char* name, int most) {
  Axis axis;
  axis.unit = QString::fromUtf8(name);
  for (const double value : round_ticks(0, high / unit, most)) {
    // Ticks are multiples of the step, so they have rounding errors only: 12 digits hide them.
    const double shown = std::fabs(value) < 1e-12 ? 0 : value;
    axis.ticks.push_back({value * unit, QString::number(shown, 'g', 12)});
  }
  return axis;
}

}  // namespace

std::vector<double> round_ticks(double low, double high, int most) {
  std::vector<double> ticks;
  if (!(high > low) || most < 1 || !std::isfinite(high - low)) return ticks;
  const double least = (high - low) / most;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  double step = power * 10;
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least * (1 - 1e-9)) {
      step = factor * power;
      break;
    }
  const auto first = static_cast<std::int64_t>(std::ceil(low / step - 1e-9));
  const auto last = static_cast<std::int64_t>(std::floor(high / step + 1e-9));
  for (std::int64_t i = first; i <= last; ++i) ticks.push_back(static_cast<double>(i) * step);
  return ticks;
}

Axis byte_axis(double high, int most) {
  struct Unit {
    double bytes;
    const char* name;
  };
  for (const Unit unit : {Unit{1099511627776.0, "TiB"}, {1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}})
    if (high >= unit.bytes) return labelled(high, unit.bytes, unit.name, most);
  return labelled(high, 1, "B", most);
}

}  // namespace rankscope::app
