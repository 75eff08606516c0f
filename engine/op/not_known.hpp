// How an unknown value is represented.
#pragma once
#include <limits>

namespace rankscope {

/// NaN: shown as a dash, and null in JSON.
inline constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

}  // namespace rankscope
