// Why the second-best plan of a search loses, as text. For this folder's own files.
#pragma once
#include <string>
#include <vector>

#include "engine/predict/search/search.hpp"

namespace rankscope {

/// `apart`: the settings in which the second plan differs from the first; `lost`: where its time goes.
std::string second_text(const std::string& apart, double first_seconds, double second_seconds,
                        const std::vector<LostTime>& lost);

}  // namespace rankscope
