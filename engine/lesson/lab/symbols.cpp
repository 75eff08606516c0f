#include "engine/lesson/lab/symbols.hpp"

#include <algorithm>
#include <cstdint>

#include "engine/lesson/lab/experiment.hpp"
#include "engine/op/contains.hpp"

namespace rankscope {
namespace {

using Letters = std::u32string;

/// Code points; an invalid byte is its own code point.
Letters decoded(std::string_view text) {
  Letters letters;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
    char32_t point = length == 1 ? first : first & (0xffu >> (length + 1));
    for (std::size_t k = 1; k < length && i + k < text.size(); ++k)
      point = point << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3fu);
    letters += point;
    i += length;
  }
  return letters;
}

std::string encoded(char32_t point) {
  if (point < 0x80) return {static_cast<char>(point)};
  return {static_cast<char>(0xc0 | point >> 6), static_cast<char>(0x80 | (point & 0x3f))};  // Latin-1 and Greek
}

bool is_ascii(char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_capital(char32_t c) { return c >= 'A' && c <= 'Z'; }
bool is_greek(char32_t c) { return c >= 0x370 && c <= 0x3ff; }
bool is_letter(char32_t c) {
  return is_ascii(c) || is_greek(c) || (c >= 0xc0 && c <= 0x24f && c != 0xd7 && c != 0xf7) || c == 0xb5;
}
bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }
bool is_blank(char32_t c) { return c == ' ' || c == '\n' || c == '\t' || c == 0xa0 || c == 0x202f || c == 0x2009; }
bool is_apostrophe(char32_t c) { return c == '\'' || c == 0x2019; }

/// Letters that are usual units, or part of a size, after a number.
bool is_unit(char32_t c) { return std::u32string_view(U"sshBWJVAKMGTPDkmgdbxX").find(c) != std::u32string_view::npos; }

/// Text in which the letter at `at` and its neighbours can be read without range checks.
class Line {
 public:
  explicit Line(Letters letters) : letters_(std::move(letters)) {}
  std::ptrdiff_t size() const { return std::ssize(letters_); }
  char32_t operator[](std::ptrdiff_t at) const { return at < 0 || at >= size() ? U'\n' : letters_[at]; }

 private:
  Letters letters_;
};

/// After a number, with or without a space between: "5 s", "3D", "0.32 B".
bool is_unit_of_number(const Line& line, std::ptrdiff_t at) {
  if (!is_unit(line[at])) return false;
  std::ptrdiff_t before = at - 1;
  if (is_blank(line[before]) && line[before] != '\n') --before;
  return is_digit(line[before]);
}

/// "FLOP/s", "J/s" after a number: the unit after the slash.
bool is_rate(const Line& line, std::ptrdiff_t at) {
  if (line[at - 1] != '/' || (line[at] != 's' && line[at] != 'h') || !is_letter(line[at - 2])) return false;
  return is_letter(line[at - 3]) || is_unit_of_number(line, at - 2);
}

/// "e.g.", "J. Smith": a letter followed by a point, or between points.
bool is_abbreviation(const Line& line, std::ptrdiff_t at) {
  if (line[at - 1] == '.' && is_letter(line[at - 2])) return true;
  if (line[at + 1] != '.') return false;
  if (is_letter(line[at + 2])) return true;
  return is_capital(line[at]) && is_blank(line[at + 2]) && is_capital(line[at + 3]) && is_letter(line[at + 4]);
}

/// Part of a longer name: "ZB-H", "C++", "F:c2", "rank's", "GPT-J".
bool is_part_of_name(const Line& line, std::ptrdiff_t at) {
  const char32_t before = line[at - 1], after = line[at + 1];
  if (is_apostrophe(before) && !is_apostrophe(after)) return true;
  if (before == '-' && is_letter(line[at - 2]) && is_letter(line[at - 3])) return true;
  if (after == '-' && is_letter(line[at + 2]) && is_letter(line[at + 3])) return true;
  if (after == '+' && line[at + 2] == '+') return true;
  if ((after == ':' && is_letter(line[at + 2])) || (before == ':' && is_letter(line[at - 2]))) return true;
  return before == '.' && is_digit(line[at - 2]);
}

/// "in a V", "like a T": its shape.
bool is_form(const Line& line, std::ptrdiff_t at) {
  return is_capital(line[at]) && line[at - 1] == ' ' && line[at - 2] == 'a' && is_blank(line[at - 3]);
}

/// "5e-4", also with a typographic minus.
bool is_exponent(const Line& line, std::ptrdiff_t at) {
  return line[at] == 'e' && is_digit(line[at - 1]) && (line[at + 1] == '-' || line[at + 1] == 0x2212) &&
         is_digit(line[at + 2]);
}

bool is_enumeration(const Line& line, std::ptrdiff_t at) {
  return line[at] >= 'a' && line[at] <= 'e' && line[at + 1] == ')' && (line[at - 1] == '(' || line[at - 1] == '\n') &&
         (line[at - 1] == '\n' || is_blank(line[at - 2]));
}

/// "8 x 64", "h x 3h".
bool is_times(const Line& line, std::ptrdiff_t at) {
  if (line[at] != 'x' || !is_blank(line[at - 1]) || !is_blank(line[at + 1])) return false;
  const auto is_factor = [&](std::ptrdiff_t of, std::ptrdiff_t beyond) {
    return is_digit(line[of]) || (is_letter(line[of]) && !is_letter(line[beyond]));
  };
  return is_factor(at - 2, at - 3) && is_factor(at + 2, at + 3);
}

/// "press F", "key W".
bool is_key(const Line& line, std::ptrdiff_t at) {
  if (!is_capital(line[at]) || line[at - 1] != ' ') return false;
  std::string before;
  for (std::ptrdiff_t i = at - 2; is_letter(line[i]) && before.size() < 8; --i)
    before.insert(0, 1, static_cast<char>(line[i]));
  return before == "press" || before == "Press" || before == "key" || before == "keys";
}

bool is_symbol(const Line& line, std::ptrdiff_t at) {
  const char32_t letter = line[at];
  if (!is_ascii(letter) && !is_greek(letter)) return false;
  if (letter == U'μ') return false;  // micro
  if (is_letter(line[at - 1]) || is_letter(line[at + 1]) || is_digit(line[at + 1])) return false;
  if (line[at - 1] == '_' || line[at + 1] == '_') return false;
  if (letter == 'a' || letter == 'A' || letter == 'I') return false;
  return !is_unit_of_number(line, at) && !is_rate(line, at) && !is_abbreviation(line, at) &&
         !is_part_of_name(line, at) && !is_enumeration(line, at) && !is_times(line, at) && !is_key(line, at) &&
         !is_form(line, at) && !is_exponent(line, at);
}

/// A line of code that is not a formula: a command, or a programming language.
bool is_program(std::string_view line) {
  if (!line.starts_with("    ")) return false;
  if (experiment_of(line)) return true;
  for (std::size_t i = 1; i + 1 < line.size(); ++i) {
    const auto is_name = [&](std::size_t at) { return is_ascii(static_cast<unsigned char>(line[at])); };
    if ((line[i] == '_' || line[i] == '.') && is_name(i - 1) && is_name(i + 1)) return true;
  }
  return line.find("import ") != std::string_view::npos;
}

/// Without commands, code in backquotes and the targets of links.
std::string prose_of(std::string_view markdown) {
  std::string prose;
  std::string_view rest = markdown;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    if (!is_program(line)) prose.append(line);
    prose += '\n';
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  std::string result;
  for (std::size_t i = 0; i < prose.size(); ++i) {
    if (prose[i] == '`') {
      const std::size_t end = prose.find('`', i + 1);
      if (end == std::string::npos) break;
      i = end;
      result += "``";  // so that its neighbours do not become one
    } else if (prose[i] == ']' && i + 1 < prose.size() && prose[i + 1] == '(') {
      const std::size_t end = prose.find(')', i);
      if (end == std::string::npos) break;
      i = end;
      result += ' ';
    } else {
      result += prose[i];
    }
  }
  return result;
}

}  // namespace

std::vector<std::string> symbols_in(std::string_view markdown) {
  const Line line(decoded(prose_of(markdown)));
  std::vector<std::string> symbols;
  for (std::ptrdiff_t at = 0; at < line.size(); ++at) {
    if (!is_symbol(line, at)) continue;
    std::string symbol = encoded(line[at]);
    if (!contains(symbols, symbol)) symbols.push_back(std::move(symbol));
  }
  return symbols;
}

}  // namespace rankscope
