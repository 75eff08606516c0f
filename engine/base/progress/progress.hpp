// How far work is that a person waits for. The work calls it; progress_line.hpp shows it.
#pragma once
#include <functional>
#include <limits>
#include <string_view>

namespace rankscope {

/// What is being done, and which share of all is done: 0 … 1, or share_not_known. A share below the one before begins a
/// new count, such as that of a second pass. With nothing being done, the line is taken away: other words may follow.
/// Empty: nobody waits.
using Progress = std::function<void(std::string_view doing, double share)>;

inline constexpr double share_not_known = std::numeric_limits<double>::quiet_NaN();

}  // namespace rankscope
