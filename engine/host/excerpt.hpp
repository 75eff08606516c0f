// A value in a message: as it was given where that is short, and with its middle left out where it is long.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace rankscope {

/// At most `most` characters and the number of all of them: "aaaa…aaaa (3000 characters)". On one line, without control
/// characters, and never a part of a character of UTF-8.
std::string excerpt(std::string_view value, std::size_t most = 80);

}  // namespace rankscope
