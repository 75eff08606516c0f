// What was typed, in a message: as it was given where that is short, and with its middle left out where it is long.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace rankscope {

/// At most `most` characters and the number of all of them: "aaaa…aaaa (3000 characters)". On one line, without control
/// characters, and never a part of a character of UTF-8.
std::string excerpt(std::string_view value, std::size_t most = 80);

/// A message as a person gets it, whatever was echoed into it: one line, values in quotes by excerpt(), words without a
/// blank (paths) of at most 200 characters, and 1,200 in all. Every program's last step before it prints a refusal.
std::string message_line(std::string_view message);

}  // namespace rankscope
