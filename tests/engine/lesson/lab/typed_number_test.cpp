#include "engine/lesson/lab/typed_number.hpp"

#include <cmath>
#include <string>

#include "tests/catch.hpp"

using namespace rankscope;

TEST_CASE("a number is typed as arithmetic, as bits of fp32, or as bits of a format") {
  CHECK(typed_number("1.001")->value == 1.001);
  CHECK(typed_number(" 2^-24 ")->value == 0x1p-24);
  CHECK(typed_number("1/1000")->value == 1.0 / 1000);
  CHECK(std::isinf(typed_number("-inf")->value));
  CHECK(std::isnan(typed_number("nan")->value));
  CHECK_FALSE(typed_number("1.001")->format.has_value());
  const auto single = typed_number("0x3f802108");
  REQUIRE(single.has_value());
  CHECK(single->format == NumberFormat::fp32);
  CHECK(single->bits == 0x3f802108);
  const auto brain = typed_number("bf16:0x3F81");
  REQUIRE(brain.has_value());
  CHECK(brain->value == 1.0078125);
  CHECK(brain->format == NumberFormat::bf16);
  CHECK(typed_number("e4m3 : 0x7e")->value == 448);
  CHECK(typed_number("int8:0x80")->value == -128);
}

TEST_CASE("invalid numbers are refused in one line with the accepted forms") {
  const auto why = [](const char* text) {
    std::string reason;
    CHECK_FALSE(typed_number(text, &reason).has_value());
    CHECK(reason.find('\n') == std::string::npos);
    return reason;
  };
  CHECK_THAT(why(""), ContainsText("1.001"));
  CHECK_THAT(why("0x"), ContainsText("0 to 9"));
  CHECK_THAT(why("0x3f8021081"), ContainsText("32 bits of fp32"));
  CHECK_THAT(why("0x12345678901234567890"), ContainsText("32 bits of fp32"));
  CHECK_THAT(why("fp16:0x10000"), ContainsText("16 bits of fp16"));
  CHECK_THAT(why("fp8:0x1"), ContainsText("E4M3, E5M2"));
  CHECK_THAT(why("bf16:1.5"), ContainsText("bf16:0x1"));
  CHECK_THAT(why("one"), ContainsText("arithmetic"));
  CHECK_THAT(why("1e999"), ContainsText("1e999"));
}
