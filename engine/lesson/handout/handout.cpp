#include "engine/lesson/handout/handout.hpp"

#include <fmt/format.h>

#include <cmath>

namespace rankscope {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) text += (i == 0 ? "" : std::string(between)) + words[i];
  return text;
}

/// Four digits, or a whole number with all of them: "27.27", "196,608".
std::string number_words(double value) {
  const double size = std::fabs(value);
  if (size < 1e4 || size >= 1e15) return fmt::format("{:.4g}", value);
  std::string digits = fmt::format("{:.0f}", size);
  for (auto at = std::ssize(digits) - 3; at > 0; at -= 3) digits.insert(static_cast<std::size_t>(at), ",");
  return value < 0 ? "-" + digits : digits;
}

}  // namespace

std::string value_words(const Question& question, double value) {
  return number_words(value) + (question.unit.empty() ? "" : " " + question.unit);
}

std::string target_words(const Question& question, const Target& target) {
  if (const auto* number = std::get_if<double>(&target)) return value_words(question, *number);
  if (const auto* option = std::get_if<std::string>(&target)) return *option;
  if (const auto* items = std::get_if<std::vector<std::string>>(&target)) return joined(*items, " → ");
  if (const auto* pattern = std::get_if<OpPattern>(&target)) return words_of(*pattern);
  if (const auto* ranks = std::get_if<RankPattern>(&target)) return words_of(*ranks);
  if (const auto* link = std::get_if<LinkPattern>(&target)) return words_of(*link);
  std::vector<std::string> values;
  for (const double value : std::get<std::vector<double>>(target)) values.push_back(number_words(value));
  return joined(values, ", ") + (question.unit.empty() ? "" : " " + question.unit);
}

std::string answer_words(const Question& question, const std::optional<Target>& simulated) {
  if (const auto known = known_answer(question)) return target_words(question, *known);
  return simulated ? target_words(question, *simulated) + " (simulated)" : std::string();
}

std::string accepted_words(const Question& question, const std::optional<Target>& simulated) {
  if (question.kind != QuestionKind::number && !question.drawn()) return {};
  std::string words = fmt::format("{} {} accepted", value_words(question, question.tolerance),
                                  question.drawn() ? "off on average is" : "more or less is");
  if (known_answer(question) && simulated) words += "; simulated: " + target_words(question, *simulated);
  return words;
}

}  // namespace rankscope
