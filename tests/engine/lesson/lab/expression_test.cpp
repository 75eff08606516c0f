#include "engine/lesson/lab/expression.hpp"

#include <cmath>
#include <string>

#include "tests/catch.hpp"

using namespace rankscope;

TEST_CASE("Arithmetic is read as a person writes it") {
  struct Row {
    const char* text;
    double value;
  };
  const Row rows[] = {
      {"42", 42},
      {"  -3.5 ", -3.5},
      {"3/11", 3.0 / 11},
      {"100 * 3/11", 300.0 / 11},
      {"2 + 3 * 4 ^ 2", 50},
      {"2^3^2", 512},
      {"-2^2", -4},
      {"(2 + 3) * (4 - 1)", 15},
      {"12 / 2 / 3", 2},
      {"1,627,392 × 4 / 2^20", 1627392.0 * 4 / 1048576},
      {"2 · 7/8 · 3.18", 2 * 7.0 / 8 * 3.18},
      {"12 ÷ 4 − 1", 2},
      {"sqrt(2 * 60)", std::sqrt(120.0)},
      {"√16", 4},
      {"ln(8/0.28) / ln 2", std::log(8 / 0.28) / std::log(2.0)},
      {"log2(8)", 3},
      {"exp 0", 1},
      {"1.5e3 + 1E-1", 1500.1},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    const auto value = evaluate(row.text);
    REQUIRE(value.has_value());
    CHECK(*value == Approx(row.value).epsilon(1e-12));
  }
}

TEST_CASE("What is not valid arithmetic is refused with the place where it ends") {
  struct Row {
    const char *text, *why;
  };
  const Row rows[] = {
      {"", "'' is not a finite number"},
      {"3/", "'3/' is not a finite number"},
      {"about 3", "'about 3' is not a number; write a number, or arithmetic such as 3/11 or 2 * 7/8"},
      {"3 %", "'3 %' is not arithmetic: '%' cannot be read; write it as 3/11 or 2 * 7/8"},
      {"1/0", "'1/0' is not a finite number"},
      {"2,5", "'2,5' has a comma that does not separate thousands; write a decimal point: 27.3"},
      {"1,0000", "'1,0000' has a comma that does not separate thousands; write a decimal point: 27.3"},
  };
  for (const Row& row : rows) {
    std::string why;
    CHECK_FALSE(evaluate(row.text, &why).has_value());
    CHECK(why == row.why);
  }
  // The recursion is bounded for any number of brackets.
  CHECK_FALSE(evaluate(std::string(100000, '(')).has_value());
  CHECK_FALSE(evaluate([] {
                std::string powers;
                for (int i = 0; i < 100000; ++i) powers += "1^";
                return powers + "1";
              }())
                  .has_value());
}
