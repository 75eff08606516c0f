// SPDX-License-Identifier: GPL-3.0-or-later
// Powers of two and small shares, as axes of magnitudes write them.
#pragma once
#include <QString>

namespace rankscope::app::text {

/// "2⁻²⁴".
QString power_of_two(int exponent);
/// Of a share that may be small: "<0.1 %", and not "0.0 %".
QString share(double share);

}  // namespace rankscope::app::text
