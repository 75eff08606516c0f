// What the design has, and what of it this engine has: the one table to open up as features land.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "engine/scenario/scenario.hpp"

namespace rankscope {

/// A named value of a key, such as plan.schedule = "gpipe".
struct Choice {
  std::string_view key, value;
  bool here;  ///< the engine has it
};

/// The values of a key that the engine has, or all of the design's. Empty when the key is not a choice.
std::vector<std::string> choices_here(std::string_view key);
std::vector<std::string> choices_known(std::string_view key);

}  // namespace rankscope
