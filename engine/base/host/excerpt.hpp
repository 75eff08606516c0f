// Text from elsewhere in a message or a report: on one line, without control characters, and not too long.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace rankscope {

/// For a terminal: control characters, line ends among them, become spaces, and bytes that are not UTF-8 become "?".
std::string printable(std::string_view text);

/// At most `most` characters and the total number: "aaaa…aaaa (3000 characters)". As printable(), and with
/// only complete characters.
std::string excerpt(std::string_view value, std::size_t most = 80);

/// A message as users see it, whatever text it quotes: one line, quoted values by excerpt(), words without a
/// space (paths) of at most 200 characters, and 1,200 in all. Every program calls it last before it prints an error.
std::string message_line(std::string_view message);

/// What a JSON parser's exception says, without the text that it quotes: "line 5, column 1936".
std::string json_fault(std::string_view what);

}  // namespace rankscope
