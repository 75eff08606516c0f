// Names that other programs and papers use for this program's keys and their values. Only for suggestions: they are not
// accepted.
#pragma once
#include <string>
#include <string_view>

namespace rankscope {

/// The correction for another program's name of a key, as seen from `table`: "did you mean 'zero' of [plan]? zero = 1
/// is a distributed optimizer", or that there is no such feature; empty for an unknown name.
std::string usual_key(std::string_view name, std::string_view table);
/// The value of the key of this path, such as "blocks" for "full" of plan.recompute; empty if there is none.
std::string_view value_called(std::string_view path, std::string_view name);
/// "there are no mixtures of experts yet" for a name of that feature, of a key or a value; empty for any other.
std::string_view absent_feature(std::string_view name);

}  // namespace rankscope
