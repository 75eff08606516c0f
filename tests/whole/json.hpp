// The programs' output with --json. Reading and writing it, and Catch's conversion to text, are compiled once.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "tests/catch.hpp"
#include "tests/whole/process.hpp"

namespace rankscope::test {

using json = nlohmann::json;

/// Throws json::parse_error if the text is not exactly one value.
json parse_json(const std::string& text);
std::string to_text(const json& value);
/// The one object on standard output; fails with the actual output if there is none.
json only_object(const Ended& ended);

}  // namespace rankscope::test

template <>
struct Catch::StringMaker<nlohmann::json> {
  static std::string convert(const nlohmann::json& value);
};
