// The headings and words that programs look for in a lesson's text, in each language that lessons are translated into.
// A new language begins here.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// "en", "de".
std::vector<std::string> known_languages();

enum class Heading { other, run, after };
/// What a heading ("## Run") begins, in any language.
Heading heading_of(std::string_view line);

/// The word that begins a folded answer, where the text begins with one: "Answer:". Empty where it does not.
std::string_view answer_word_of(std::string_view text);

}  // namespace rankscope
