// A command-line option whose value is a whole number.
#pragma once
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

#include "engine/base/host/excerpt.hpp"
#include "engine/op/words.hpp"

namespace rankscope {

/// An integer from `least`; CLI11's own message for an invalid one contains the limits of double.
inline CLI::Validator whole_number(int least) {
  return CLI::Validator(
      [least](std::string& text) -> std::string {
        if (const auto value = number_in<int>(text); value && *value >= least) return {};
        return fmt::format("'{}' is no whole number from {} up", excerpt(text), least);
      },
      "", "");
}

}  // namespace rankscope
