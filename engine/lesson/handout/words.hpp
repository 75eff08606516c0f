// The words of a hand-out that are not part of its lesson, in the languages of lessons. A new language is a column of
// the table.
#pragma once
#include <string>
#include <string_view>

namespace rankscope {

/// The English words in that language; unchanged in English ("" or "en"), in an unknown language, and if they have no
/// translation. Their {} are for fmt.
std::string_view handout_words(std::string_view english, std::string_view language);

}  // namespace rankscope
