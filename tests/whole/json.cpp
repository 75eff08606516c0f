#include "tests/whole/json.hpp"

namespace rankscope::test {

json parse_json(const std::string& text) { return json::parse(text); }

std::string to_text(const json& value) { return value.dump(); }

json only_object(const Ended& ended) {
  INFO(ended.out);
  INFO(ended.err);
  REQUIRE(ended.in_time);
  REQUIRE(!ended.out.empty());
  CHECK(ended.out.front() == '{');
  const json object = json::parse(ended.out, nullptr, false);  // refuses any text after the object
  REQUIRE(object.is_object());
  return object;
}

}  // namespace rankscope::test

std::string Catch::StringMaker<nlohmann::json>::convert(const nlohmann::json& value) { return value.dump(); }
