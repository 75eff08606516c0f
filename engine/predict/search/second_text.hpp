// Common parts of both searches' texts: a plan's line, and why the second-best plan is slower. For this folder's
// own files.
#pragma once
#include <string>
#include <vector>

#include "engine/predict/search/search.hpp"

namespace rankscope {

/// A line of a table of plans. `words`: the plan.
std::string plan_row(double seconds, double bytes, double bubble_seconds, const std::string& words);

/// `apart`: the settings in which the second plan differs from the first; `lost`: where it loses time.
std::string second_text(const std::vector<std::string>& apart, double first_seconds, double second_seconds,
                        const std::vector<LostTime>& lost);

}  // namespace rankscope
