#include "engine/lesson/lab/printed.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "engine/op/words.hpp"

namespace rankscope {
namespace {

struct UnitWord {
  std::string_view word, unit;
};
/// Longer ones first.
constexpr UnitWord unit_words[] = {
    {"GFLOP/s", "GFLOP/s"}, {"per cent", "%"}, {"percent", "%"}, {"seconds", "s"}, {"second", "s"}, {"steps", "steps"},
    {"nats", "nats"},       {"MiB", "MiB"},    {"KiB", "KiB"},   {"ms", "ms"},     {"s", "s"},      {"%", "%"},
};
constexpr std::array<std::string_view, 13> number_words = {"",      "one",   "two",  "three", "four",   "five",  "six",
                                                           "seven", "eight", "nine", "ten",   "eleven", "twelve"};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// Of a word: letters of other alphabets are several bytes above 127.
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_' || static_cast<unsigned char>(c) >= 0xc3; }

/// After spaces, including a no-break space, and marks of emphasis.
std::size_t behind_blanks(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (text[at] == ' ' || text[at] == '\n' || text[at] == '*')
      ++at;
    else if (text.substr(at, 2) == "\u00a0")
      at += 2;
    else if (text.substr(at, 3) == "\u202f" || text.substr(at, 3) == "\u2009")
      at += 3;
    else
      break;
  }
  return at;
}

std::string unit_at(std::string_view text, std::size_t at) {
  for (const UnitWord& one : unit_words) {
    if (text.substr(at, one.word.size()) != one.word) continue;
    const std::size_t end = at + one.word.size();
    if (one.word == "%" || end >= text.size() || (!is_word(text[end]) && text[end] != '/'))
      return std::string(one.unit);
  }
  return {};
}

std::string word_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && (is_letter(text[end]) || (text[end] == '-' && end > at))) ++end;
  return lowered(text.substr(at, end - at));
}

/// The end of a number that begins at `at`: digits, groups of three after commas, decimals.
std::size_t end_of_number(std::string_view text, std::size_t at) {
  const auto digits = [&](std::size_t from) {
    while (from < text.size() && is_digit(text[from])) ++from;
    return from;
  };
  std::size_t end = digits(at);
  while (end + 3 < text.size() && text[end] == ',' && digits(end + 1) == end + 4) end += 4;
  if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) end = digits(end + 1);
  return end;
}

/// Between two numbers of a list.
bool is_list_mark(std::string_view between) {
  for (const std::string_view mark : {",", "and", "or", "to", "/", ":", "–", ", and", "|"})
    if (between == mark) return true;
  return false;
}

std::string_view without_ends(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  return text;
}

struct Place {
  std::size_t begin, end;
};

/// The unit at the end of a cell: in "step, ms" ms.
std::string unit_of_head(std::string_view cell) {
  cell = without_ends(cell);
  const std::size_t blank = cell.find_last_of(" ,(");
  return unit_at(cell, blank == std::string_view::npos ? 0 : blank + 1);
}

std::vector<std::string_view> cells_of(std::string_view row) {
  std::vector<std::string_view> cells;
  for (std::size_t at = row.find('|'); at != std::string_view::npos && at + 1 < row.size();) {
    const std::size_t next = row.find('|', at + 1);
    if (next == std::string_view::npos) break;
    cells.push_back(row.substr(at + 1, next - at - 1));
    at = next;
  }
  return cells;
}

/// The units of table cells by place, from the column heads.
std::vector<std::pair<Place, std::string>> table_units(std::string_view text) {
  std::vector<std::pair<Place, std::string>> units;
  std::vector<std::string> heads;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view row = text.substr(begin, end - begin);
    if (!row.starts_with('|')) {
      heads.clear();
    } else if (heads.empty()) {
      for (const std::string_view cell : cells_of(row)) heads.push_back(unit_of_head(cell));
      if (heads.empty()) heads.emplace_back();
    } else {
      const auto cells = cells_of(row);
      for (std::size_t i = 0; i < cells.size() && i < heads.size(); ++i) {
        const auto from = static_cast<std::size_t>(cells[i].data() - text.data());
        units.push_back({{from, from + cells[i].size()}, heads[i].empty() ? heads[0] : heads[i]});
      }
    }
    begin = end + 1;
  }
  return units;
}

/// The number agrees with the answer to its last printed digit.
bool agrees(double printed, double half_digit, double truth, double tolerance) {
  const double off = std::fabs(printed - truth);
  if (off <= 1e-9 * std::fabs(truth)) return true;
  constexpr double hair = 1 + 1e-6, near = 0.01, not_far = 0.05;
  return off <= std::max(half_digit * hair, near * std::fabs(truth)) && off <= tolerance &&
         off <= not_far * std::fabs(truth);
}

/// It would be accepted, and not only because the tolerance is large.
bool is_accepted(double printed, double truth, double tolerance) {
  constexpr double not_far = 0.25;
  const double off = std::fabs(printed - truth);
  return off <= tolerance && off <= not_far * std::fabs(truth);
}

/// The things that "How many THINGS …" asks for.
std::string counted_noun(const std::string& ask) {
  const std::string words = lowered(ask);
  constexpr std::string_view many = "how many ";
  const std::size_t at = words.find(many);
  return at == std::string::npos ? std::string() : word_at(words, at + many.size());
}

std::optional<std::string> fraction_of(double share, std::string_view text) {
  for (std::size_t at = text.find('/'); at != std::string_view::npos; at = text.find('/', at + 1)) {
    std::size_t begin = at, end = at + 1;
    while (begin > 0 && is_digit(text[begin - 1])) --begin;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (begin == at || end == at + 1 || at - begin > 6 || end - at > 7) continue;
    if ((begin > 0 && (is_word(text[begin - 1]) || text[begin - 1] == '.' || text[begin - 1] == '/')) ||
        (end < text.size() && (is_word(text[end]) || text[end] == '/')))
      continue;
    double above = 0, below = 0;
    std::from_chars(text.data() + begin, text.data() + at, above);
    std::from_chars(text.data() + at + 1, text.data() + end, below);
    constexpr double usual = 5;  // halves, thirds and quarters are common
    if (below >= usual && std::fabs(above / below - share) < 1e-6) return std::string(text.substr(begin, end - begin));
  }
  return std::nullopt;
}

std::optional<std::string> printed_number(const Question& question, double truth, std::string_view text) {
  const std::string noun = counted_noun(question.ask);
  constexpr double special = 20;  // a small integer may mean anything
  const bool is_known = known_answer(question).has_value();
  const bool is_common = truth == std::round(truth) && std::fabs(truth) <= special;
  for (const PrintedNumber& number : numbers_in(text)) {
    // If only a run gives the value, any accepted number gives it away.
    const bool is_answer = is_known ? agrees(number.value, number.half_digit, truth, question.tolerance)
                                    : is_accepted(number.value, truth, question.tolerance);
    if (!is_answer) continue;
    if (question.unit.empty()) {
      const bool same_thing = !noun.empty() && number.noun == noun;
      const bool bare = number.unit.empty() && !is_common;
      if (!same_thing && !bare) continue;
    } else if (number.unit != question.unit) {
      continue;
    }
    return number.words;
  }
  if (question.unit.empty() && is_common && !noun.empty() && truth >= 1 && truth < number_words.size()) {
    const std::string words = std::string(number_words[static_cast<std::size_t>(truth)]) + " " + noun;
    if (lowered(text).find(words) != std::string::npos) return words;
  }
  if (question.is_percentage()) return fraction_of(truth / 100, text);
  return std::nullopt;
}

/// With one space between words, without emphasis, so that line ends do not hide it.
std::string flat(std::string_view text) {
  std::string result;
  for (const char c : lowered(text)) {
    if (c == '*' || c == '`' || c == '_') continue;
    const bool blank = c == ' ' || c == '\n' || c == '\t';
    if (blank && (result.empty() || result.back() == ' ')) continue;
    result += blank ? ' ' : c;
  }
  while (!result.empty() && (result.back() == ' ' || result.back() == '.')) result.pop_back();
  return result;
}

std::optional<std::string> printed_option(const Question& question, const std::string& truth, std::string_view text) {
  constexpr std::size_t least_words = 2, least_letters = 16;  // one or two words are used in other senses, too
  const std::string all = flat(text), right = flat(truth);
  const auto gaps = static_cast<std::size_t>(std::count(right.begin(), right.end(), ' '));
  if ((gaps < least_words && right.size() < least_letters) || all.find(right) == std::string::npos) return std::nullopt;
  const bool all_named = std::ranges::all_of(
      question.options, [&](const std::string& option) { return all.find(flat(option)) != std::string::npos; });
  return all_named ? std::nullopt : std::optional(truth);
}

std::optional<std::string> printed_order(const std::vector<std::string>& items, std::string_view text) {
  constexpr std::size_t between = 10;  // "→", ", then ", "; 2. "
  const std::string all = flat(text);
  if (items.empty()) return std::nullopt;
  const std::string first = flat(items.front());
  for (std::size_t begin = all.find(first); begin != std::string::npos; begin = all.find(first, begin + 1)) {
    std::size_t end = begin + first.size();
    bool in_order = true;
    for (std::size_t i = 1; i < items.size() && in_order; ++i) {
      const std::string item = flat(items[i]);
      const std::size_t at = all.find(item, end);
      in_order = at != std::string::npos && at - end <= between;
      end = at + item.size();
    }
    if (in_order) return all.substr(begin, end - begin);
  }
  return std::nullopt;
}

std::optional<std::string> printed_series(const std::vector<double>& series, const Question& question,
                                          std::string_view text) {
  if (series.size() < 2) return std::nullopt;
  const std::vector<PrintedNumber> numbers = numbers_in(text);
  for (std::size_t i = 0; i + series.size() <= numbers.size(); ++i) {
    bool same = true;
    std::string words;
    for (std::size_t k = 0; k < series.size() && same; ++k) {
      same = agrees(numbers[i + k].value, numbers[i + k].half_digit, series[k], question.tolerance) &&
             numbers[i + k].unit == question.unit;
      words += (k == 0 ? "" : " … ") + numbers[i + k].words;
    }
    if (same) return words;
  }
  return std::nullopt;
}

}  // namespace

std::vector<PrintedNumber> numbers_in(std::string_view text) {
  const auto units = table_units(text);
  std::vector<PrintedNumber> numbers;
  std::vector<Place> places;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins = is_digit(text[at]) && (at == 0 || (!is_word(text[at - 1]) && text[at - 1] != '.'));
    if (!begins) {
      ++at;
      continue;
    }
    const std::size_t end = end_of_number(text, at);
    std::string digits(text.substr(at, end - at));
    std::erase(digits, ',');
    PrintedNumber number;
    std::from_chars(digits.data(), digits.data() + digits.size(), number.value);
    const std::size_t point = digits.find('.');
    const auto decimals = point == std::string::npos ? 0 : static_cast<int>(digits.size() - point - 1);
    number.half_digit = 0.5 * std::pow(10.0, -decimals);
    const std::size_t behind = behind_blanks(text, end);
    number.unit = unit_at(text, behind);
    number.noun = word_at(text, behind);
    if (number.unit.empty())
      for (const auto& [place, unit] : units)
        if (at >= place.begin && at < place.end) number.unit = unit;
    number.words = std::string(text.substr(at, end - at)) +
                   (number.unit.empty() ? "" : (number.unit == "%" ? "" : " ") + number.unit);
    numbers.push_back(std::move(number));
    places.push_back({at, end});
    at = end;
    while (at < text.size() && is_word(text[at])) ++at;  // "3D", "2e6": letters directly after it
  }
  for (std::size_t i = numbers.size(); i-- > 1;) {
    const std::string_view between = without_ends(text.substr(places[i - 1].end, places[i].begin - places[i - 1].end));
    if (numbers[i - 1].unit.empty() && is_list_mark(between)) numbers[i - 1].unit = numbers[i].unit;
  }
  return numbers;
}

std::optional<std::string> printed_answer(const Question& question, const Target& truth, std::string_view text) {
  switch (question.kind) {
    case QuestionKind::number: return printed_number(question, std::get<double>(truth), text);
    case QuestionKind::choice: return printed_option(question, std::get<std::string>(truth), text);
    case QuestionKind::order: return printed_order(std::get<std::vector<std::string>>(truth), text);
    case QuestionKind::draw: return printed_series(std::get<std::vector<double>>(truth), question, text);
    case QuestionKind::point: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace rankscope
