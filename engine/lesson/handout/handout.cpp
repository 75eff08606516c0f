#include "engine/lesson/handout/handout.hpp"

#include <fmt/format.h>

#include <cmath>

#include "engine/lesson/handout/words.hpp"

namespace rankscope {
namespace {

/// Four digits, or all digits of an integer: "27.27", "196,608".
std::string number_words(double value) {
  const double size = std::fabs(value);
  if (size < 1e4 || size >= 1e15) return fmt::format("{:.4g}", value);
  std::string digits = fmt::format("{:.0f}", size);
  for (auto at = std::ssize(digits) - 3; at > 0; at -= 3) digits.insert(static_cast<std::size_t>(at), ",");
  return value < 0 ? "-" + digits : digits;
}

/// Like words_of(), in that language.
std::string pattern_words(const OpPattern& pattern, const std::string& language) {
  if (language.empty()) return words_of(pattern);
  const auto part = [&](std::string_view english, int number) {
    return fmt::format(fmt::runtime(handout_words(english, language)), number);
  };
  std::string words(handout_words(pattern.kind ? name_of(*pattern.kind) : "an op", language));
  if (pattern.purpose) words += fmt::format(" ({})", name_of(*pattern.purpose));
  if (pattern.micro_batch) words += part(" of micro-batch {}", *pattern.micro_batch);
  if (pattern.chunk) words += part(" of chunk {}", *pattern.chunk);
  if (pattern.rank) words += part(" on rank {}", *pattern.rank);
  return words;
}

}  // namespace

std::string value_words(const Question& question, double value) {
  return number_words(value) + (question.unit.empty() ? "" : " " + question.unit);
}

std::string target_words(const Question& question, const Target& target, const std::string& language) {
  if (const auto* number = std::get_if<double>(&target)) return value_words(question, *number);
  if (const auto* option = std::get_if<std::string>(&target)) return *option;
  if (const auto* items = std::get_if<std::vector<std::string>>(&target))
    return fmt::format("{}", fmt::join(*items, " → "));
  if (const auto* pattern = std::get_if<OpPattern>(&target)) return pattern_words(*pattern, language);
  if (const auto* ranks = std::get_if<RankPattern>(&target)) return words_of(*ranks);
  if (const auto* link = std::get_if<LinkPattern>(&target)) return words_of(*link);
  std::vector<std::string> values;
  for (const double value : std::get<std::vector<double>>(target)) values.push_back(number_words(value));
  return fmt::format("{}", fmt::join(values, ", ")) + (question.unit.empty() ? "" : " " + question.unit);
}

std::string answer_words(const Question& question, const std::optional<Target>& simulated,
                         const std::string& language) {
  if (const auto known = known_answer(question)) return target_words(question, *known, language);
  if (!simulated) return {};
  return fmt::format("{} ({})", target_words(question, *simulated, language), handout_words("simulated", language));
}

std::string accepted_words(const Question& question, const std::optional<Target>& simulated,
                           const std::string& language) {
  if (question.kind != QuestionKind::number && !question.drawn()) return {};
  const std::string_view accepted = question.drawn() ? "{} off on average is accepted" : "{} more or less is accepted";
  std::string words =
      fmt::format(fmt::runtime(handout_words(accepted, language)), value_words(question, question.tolerance));
  if (known_answer(question) && simulated)
    words +=
        fmt::format("; {}: {}", handout_words("simulated", language), target_words(question, *simulated, language));
  return words;
}

}  // namespace rankscope
