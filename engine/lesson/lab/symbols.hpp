// The symbols that a lesson's text uses: single Latin or Greek letters that denote a quantity. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Each once, in order of first use: "p", "Ψ". In Markdown, code in backquotes, command lines and links are skipped.
/// The words a, A and I, letters of abbreviations and of names ("ZB-H1", "e.g."), units after a number ("5 s") and
/// enumerations ("(a)") are not symbols.
std::vector<std::string> symbols_in(std::string_view markdown);

}  // namespace rankscope
