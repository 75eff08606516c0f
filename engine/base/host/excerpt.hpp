// User input quoted in a message: complete if it is short, with the middle left out if it is long.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace rankscope {

/// At most `most` characters and the total number: "aaaa…aaaa (3000 characters)". One line, without control
/// characters, and only complete UTF-8 characters.
std::string excerpt(std::string_view value, std::size_t most = 80);

/// A message as users see it, whatever text it quotes: one line, quoted values by excerpt(), words without a
/// space (paths) of at most 200 characters, and 1,200 in all. Every program calls it last before it prints an error.
std::string message_line(std::string_view message);

}  // namespace rankscope
