// What the design has, and what of it this engine has: the one table to open up as features land.
#pragma once
#include <optional>
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

/// A key whose value the engine takes up to some number only (booleans count as 0 and 1).
struct Ceiling {
  std::string_view key;
  int greatest_here;
};

/// The values of a key that the engine has, or all of the design's. Empty when the key is not a choice.
std::vector<std::string> choices_here(std::string_view key);
std::vector<std::string> choices_known(std::string_view key);
/// The greatest value that the engine has; nullopt where there is no ceiling but the key's range.
std::optional<int> ceiling_here(std::string_view key);

}  // namespace rankscope
