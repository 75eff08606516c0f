// Names that other programs and papers use for this program's keys and their values. Only for suggestions: they are not
// accepted.
#pragma once
#include <string_view>

namespace rankscope {

/// The path of the key, such as "train.learning_rate" for "lr"; empty if there is none.
std::string_view key_called(std::string_view name);
/// The value of the key of this path, such as "blocks" for "full" of plan.recompute; empty if there is none.
std::string_view value_called(std::string_view path, std::string_view name);

}  // namespace rankscope
