// SPDX-License-Identifier: GPL-3.0-or-later
// Axis ticks as arithmetic: round values (1, 2 or 5 times a power of ten) that are not too dense. Those of
// time are in app/models/time_axis.hpp.
#pragma once
#include <QString>
#include <vector>

namespace rankscope::app {

struct Tick {
  double value = 0;  ///< in the axis' own unit (bytes)
  QString label;     ///< without the unit
};
struct Axis {
  std::vector<Tick> ticks;
  QString unit;  ///< once, at the axis: "MiB", "ms"
};

/// At most `most` round ticks within [low, high].
std::vector<double> round_ticks(double low, double high, int most);
/// Ticks of bytes from 0 to `high`, in a suitable binary unit.
Axis byte_axis(double high, int most);

}  // namespace rankscope::app
