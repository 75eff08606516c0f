// A command-line option whose value is a name of a closed set.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "engine/plan/scenario/choice.hpp"

namespace rankscope {

/// `names`: those that the command accepts; if empty, all of the set.
template <class E>
CLI::Option* add_choice(CLI::App* line, const std::string& option, Choice<E>& choice, const std::string& about,
                        std::vector<std::string> names = {}) {
  if (names.empty()) names.assign(word_table<E>.begin(), word_table<E>.end());
  return line
      ->add_option_function<std::string>(
          option, [&choice](const std::string& name) { choice.take(name); }, about)
      ->check(CLI::IsMember(std::move(names)));
}

}  // namespace rankscope
