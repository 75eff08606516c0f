// Progress of work that a user waits for. The work calls it; progress_line.hpp shows it.
#pragma once
#include <functional>
#include <limits>
#include <string_view>

namespace rankscope {

/// The current task, and the share of it that is done: 0 … 1, or share_not_known. A smaller share than before begins
/// a new count, such as that of a second pass. An empty task removes the line, so that other output may follow.
/// Empty function: progress is not shown.
using Progress = std::function<void(std::string_view doing, double share)>;

inline constexpr double share_not_known = std::numeric_limits<double>::quiet_NaN();

}  // namespace rankscope
