// The headings and words that programs search for in a lesson's text, in each language that lessons are translated
// into. To add a language, begin here.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// "en", "de".
std::vector<std::string> known_languages();

enum class Heading { other, run, after };
/// The part that a heading ("## Run") begins, in any language.
Heading heading_of(std::string_view line);

/// The word that begins a folded answer, if the text begins with one: "Answer:". Otherwise empty.
std::string_view answer_word_of(std::string_view text);

}  // namespace rankscope
