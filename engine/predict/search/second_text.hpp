// What the texts of both searches have in common: a plan's line, and why the second-best plan loses. For this folder's
// own files.
#pragma once
#include <string>
#include <vector>

#include "engine/predict/search/search.hpp"

namespace rankscope {

/// A line of a table of plans. `words`: which plan.
std::string plan_row(double seconds, double bytes, double bubble_seconds, const std::string& words);

/// `apart`: the settings in which the second plan differs from the first; `lost`: where its time goes.
std::string second_text(const std::vector<std::string>& apart, double first_seconds, double second_seconds,
                        const std::vector<LostTime>& lost);

}  // namespace rankscope
