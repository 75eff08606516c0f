// The values that a key of names takes, such as plan.schedule = "gpipe".
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// In the order in which they are listed to people; an empty one stands for none. Empty when the key is not a choice.
std::vector<std::string> choices(std::string_view key);

}  // namespace rankscope
