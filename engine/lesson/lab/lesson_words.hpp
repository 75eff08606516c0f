// The words by which programs find their way in a lesson's text, in each language that lessons are translated into.
// Data only; a new language begins here.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Headings of the second level, and the word that begins an answer which is folded away.
struct LessonWords {
  std::string_view language;  ///< "de"
  std::string_view name;      ///< "Deutsch"
  std::string_view run, compare, explain;
  std::string_view answer;  ///< with its colon
};

/// English first.
std::span<const LessonWords> all_lesson_words();
/// "en", "de".
std::vector<std::string> known_languages();
bool is_known_language(std::string_view language);

enum class Heading { other, run, after };
/// What a heading ("## Run") begins, in any language.
Heading heading_of(std::string_view line);

/// The word that begins a folded answer, where the text begins with one: "Answer:". Empty where it does not.
std::string_view answer_word_of(std::string_view text);

}  // namespace rankscope
