// The names that a lesson's text uses: symbols, keys after --set, links into the window. For check.cpp.
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/lesson/lab/glossary.hpp"

namespace rankscope {

/// Symbols of a text (symbols.hpp) that neither the lesson nor the glossary defines.
std::vector<std::string> undefined_symbols(std::string_view text, const std::map<std::string, std::string>& own,
                                           const Glossary& glossary);

/// Each --set of a text with an unknown key or an invalid value; each link to an unknown view, or with an unknown
/// parameter. "what is wrong; what would be right".
std::vector<std::string> faults_of_text(std::string_view text, std::span<const std::string_view> views);

/// Faults of a link's part after "view:": "memory", or with parameters "memory?rank=0&step=last".
std::vector<std::string> faults_of_view_link(std::string_view link, std::span<const std::string_view> views);

/// "there is no lab 'wals'; did you mean 'walls'?"
std::string no_such(std::string_view kind, const std::string& name, const std::vector<std::string>& known);

}  // namespace rankscope
