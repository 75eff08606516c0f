#include "engine/base/host/excerpt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace rankscope {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/// A quote that begins a value, not an apostrophe.
bool opens(std::string_view text, std::size_t at) {
  return text[at] == '\'' && (at == 0 || is_blank(text[at - 1]) || text[at - 1] == '(' || text[at - 1] == '=');
}
bool closes(std::string_view text, std::size_t at) {
  if (text[at] != '\'') return false;
  const unsigned char next = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : ' ';
  return std::isalnum(next) == 0 && next < 0x80;
}

/// Bytes of the UTF-8 character that begins there; 0 if none does.
std::size_t character_at(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const std::size_t bytes = first < 0x80   ? 1
                            : first < 0xC2 ? 0
                            : first < 0xE0 ? 2
                            : first < 0xF0 ? 3
                            : first < 0xF5 ? 4
                                           : 0;
  if (at + bytes > text.size()) return 0;
  for (std::size_t i = 1; i < bytes; ++i)
    if (!continues(text[at + i])) return 0;
  return bytes;
}

/// Also those of C1, U+0080 to U+009F, which some terminals obey.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = character_at(text, at);
    const std::string_view character = text.substr(at, std::max<std::size_t>(bytes, 1));
    if (bytes == 0)
      result += '?';
    else if (is_control(character))
      result += ' ';
    else
      result += character;
    at += character.size();
  }
  return result;
}

std::string excerpt(std::string_view value, std::size_t most) {
  std::string text(value);
  if (value.size() > most) {
    std::size_t head = most * 3 / 4, tail = value.size() - (most - head);
    while (head > 0 && continues(value[head])) --head;
    while (tail < value.size() && continues(value[tail])) ++tail;
    text = fmt::format("{}…{} ({} characters)", value.substr(0, head), value.substr(tail), value.size());
  }
  return printable(text);
}

std::string message_line(std::string_view message) {
  constexpr std::size_t longest_word = 200, longest_message = 1200;
  std::string line;
  for (std::size_t at = 0; at < message.size();) {
    if (opens(message, at)) {
      std::size_t end = at + 1;
      while (end < message.size() && !closes(message, end)) ++end;
      if (end < message.size()) {
        line += "'" + excerpt(message.substr(at + 1, end - at - 1)) + "'";
        at = end + 1;
        continue;
      }
    }
    std::size_t end = at + 1;
    while (end < message.size() && !is_blank(message[end]) && !opens(message, end)) ++end;
    line += excerpt(message.substr(at, end - at), longest_word);
    at = end;
  }
  return excerpt(line, longest_message);
}

std::string json_fault(std::string_view what) {
  // "[json.exception.parse_error.101] parse error at line 5, column 1936: syntax error while …; last read: '…'"
  constexpr std::string_view place = "parse error at ";
  if (const std::size_t at = what.find(place); at != std::string_view::npos) {
    what.remove_prefix(at + place.size());
    return printable(what.substr(0, what.find(':')));
  }
  if (const std::size_t end = what.find("] "); what.starts_with("[json.exception") && end != std::string_view::npos)
    what.remove_prefix(end + 2);
  return excerpt(what, 200);
}

}  // namespace rankscope
