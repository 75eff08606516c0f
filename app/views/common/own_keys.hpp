// SPDX-License-Identifier: GPL-3.0-or-later
// A property of widgets: true where arrows and digits are the widget's own while it has the focus, as in a box to type
// in. Elsewhere they move the time line.
#pragma once

namespace rankscope::app {

inline constexpr const char* own_keys_property = "ownKeys";

}  // namespace rankscope::app
