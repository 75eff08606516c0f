// A refused scenario and its message: the complete line that a user reads.
#pragma once
#include <string>
#include <vector>

#include "engine/plan/scenario/read.hpp"
#include "tests/catch.hpp"

namespace rankscope::test {

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return "no error";
}

struct Row {
  const char* text;
  std::vector<std::string> set;
  const char* message;
};

inline void check(const Row& row) {
  INFO(row.text);
  const std::string message = error_of([&] {
    std::vector<Override> overrides;
    for (const std::string& text : row.set) overrides.push_back(parse_override(text));
    parse_scenario(row.text, "s.toml", overrides);
  });
  CHECK(message == row.message);
  CHECK(message.find('\n') == std::string::npos);
}

}  // namespace rankscope::test
