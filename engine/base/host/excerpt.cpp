#include "engine/base/host/excerpt.hpp"

#include <fmt/format.h>

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

}  // namespace

std::string excerpt(std::string_view value, std::size_t most) {
  std::string text(value);
  if (value.size() > most) {
    std::size_t head = most * 3 / 4, tail = value.size() - (most - head);
    while (head > 0 && continues(value[head])) --head;
    while (tail < value.size() && continues(value[tail])) ++tail;
    text = fmt::format("{}…{} ({} characters)", value.substr(0, head), value.substr(tail), value.size());
  }
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text;
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

}  // namespace rankscope
