// The symbols that a lesson's text uses: single Latin or Greek letters that stand for a quantity. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Each once, as it first appears: "p", "Ψ". Of Markdown: code in backquotes and lines that are commands have none, nor
/// have links. The words a, A and I, letters of abbreviations and of names ("ZB-H1", "e.g."), units behind a number
/// ("5 s") and enumerations ("(a)") are no symbols.
std::vector<std::string> symbols_in(std::string_view markdown);

}  // namespace rankscope
