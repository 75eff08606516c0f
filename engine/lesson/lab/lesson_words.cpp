#include "engine/lesson/lab/lesson_words.hpp"

#include <algorithm>

namespace rankscope {
namespace {

constexpr LessonWords words_by_language[] = {
    {"en", "English", "Run", "Compare", "Explain", "Answer:"},
    {"de", "Deutsch", "Ausführen", "Vergleichen", "Erklären", "Antwort:"},
};

}  // namespace

std::span<const LessonWords> all_lesson_words() { return words_by_language; }

std::vector<std::string> known_languages() {
  std::vector<std::string> known;
  for (const LessonWords& one : words_by_language) known.emplace_back(one.language);
  return known;
}

bool is_known_language(std::string_view language) {
  return std::any_of(std::begin(words_by_language), std::end(words_by_language),
                     [&](const auto& one) { return one.language == language; });
}

Heading heading_of(std::string_view line) {
  constexpr std::string_view mark = "## ";
  if (!line.starts_with(mark)) return Heading::other;
  line.remove_prefix(mark.size());
  for (const LessonWords& one : words_by_language) {
    if (line == one.run) return Heading::run;
    if (line == one.compare || line == one.explain) return Heading::after;
  }
  return Heading::other;
}

std::string_view answer_word_of(std::string_view text) {
  for (const LessonWords& one : words_by_language)
    if (text.starts_with(one.answer)) return one.answer;
  return {};
}

}  // namespace rankscope
