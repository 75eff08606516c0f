#include "engine/op/words.hpp"

#include <limits>

#include "tests/catch.hpp"

using namespace rankscope;

TEST_CASE("a count has its noun in singular or plural") {
  CHECK(counted(1, "head") == "1 head");
  CHECK(counted(0, "head") == "0 heads");
  CHECK(counted(12, "micro-batch", ending_es) == "12 micro-batches");
  CHECK(counted(1, "micro-batch", ending_es) == "1 micro-batch");
  CHECK(agreeing(1, "is", "are") == "is");
  CHECK(agreeing(2, "is", "are") == "are");
}

TEST_CASE("figures have their units, and unknown figures are a dash") {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  CHECK(figure::percent(0.1234) == "12.3 %");
  CHECK(figure::duration(12.5e-6) == "12.5 us");
  CHECK(figure::duration(0.0125) == "12.500 ms");
  CHECK(figure::duration(1.25) == "1.250 s");
  CHECK(figure::bytes(1023) == "1023 B");
  CHECK(figure::bytes(1536) == "1.50 KiB");
  CHECK(figure::bytes(5e15) == "4547.47 TiB");
  for (const std::string& text : {figure::percent(unknown), figure::duration(unknown), figure::bytes(unknown),
                                  figure::number(unknown, "{:.1f} W")})
    CHECK(text == figure::dash);
}
