#include "engine/lesson/lab/lesson_words.hpp"

namespace rankscope {
namespace {

/// Headings of the second level, and the word that begins a folded answer.
struct LessonWords {
  std::string_view language;
  std::string_view run, compare, explain;
  std::string_view answer;  ///< with its colon
};

constexpr LessonWords words_by_language[] = {
    {"en", "Run", "Compare", "Explain", "Answer:"},
    {"de", "Ausführen", "Vergleichen", "Erklären", "Antwort:"},
};

}  // namespace

std::vector<std::string> known_languages() {
  std::vector<std::string> known;
  for (const LessonWords& one : words_by_language) known.emplace_back(one.language);
  return known;
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
