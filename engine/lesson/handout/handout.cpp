#include "engine/lesson/handout/handout.hpp"

#include <fmt/format.h>

namespace rankscope {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) text += (i == 0 ? "" : std::string(between)) + words[i];
  return text;
}

}  // namespace

std::string value_words(const Question& question, double value) {
  return fmt::format("{:.4g}", value) + (question.unit.empty() ? "" : " " + question.unit);
}

std::string target_words(const Question& question, const Target& target) {
  if (const auto* number = std::get_if<double>(&target)) return value_words(question, *number);
  if (const auto* option = std::get_if<std::string>(&target)) return *option;
  if (const auto* items = std::get_if<std::vector<std::string>>(&target)) return joined(*items, " → ");
  if (const auto* pattern = std::get_if<OpPattern>(&target)) return words_of(*pattern);
  std::vector<std::string> values;
  for (const double value : std::get<std::vector<double>>(target)) values.push_back(fmt::format("{:.4g}", value));
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
