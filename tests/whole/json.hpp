// What programs print with --json. Reading and writing it, and Catch's words for it, are compiled once.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "tests/catch.hpp"
#include "tests/whole/process.hpp"

namespace rankscope::test {

using json = nlohmann::json;

/// Throws json::parse_error where the text is not one value with nothing behind it.
json parse_json(const std::string& text);
std::string to_text(const json& value);
/// The one object on standard output; fails with what was there instead.
json only_object(const Ended& ended);

}  // namespace rankscope::test

template <>
struct Catch::StringMaker<nlohmann::json> {
  static std::string convert(const nlohmann::json& value);
};
