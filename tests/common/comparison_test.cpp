// The comparison functions that the other tests use.
#include "tests/comparison.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

using namespace rankscope::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
using Values = std::vector<double>;

}  // namespace

TEST_CASE("a NaN first, in the middle or last is an infinite error, in the result and in the expected values") {
  const std::size_t at = GENERATE(0, 1, 2, 3, 4);
  const Values good{1, -2, 4, 0, 3};
  Values bad = good;
  bad[at] = not_a_number;
  CHECK(largest_relative_error(bad, good) == infinity);
  CHECK(largest_relative_error(good, bad) == infinity);
  CHECK(largest_relative_error(bad, bad) == infinity);
  CHECK(frobenius_error(bad, good) == infinity);
  CHECK(frobenius_error(good, bad) == infinity);
  CHECK(compare(std::span<const double>(bad), std::span<const double>(good)).error.at() == at);
}

TEST_CASE("neither a number after a NaN nor one before it hides it") {
  LargestError errors;
  for (const double error : {0.5, not_a_number, 0.25, 3.0, infinity, 0.0}) errors.add(error);
  CHECK(errors.value() == infinity);
  CHECK(errors.at() == 1);
  CHECK(errors.count() == 6);
}

TEST_CASE("all NaN is an infinite error, as weights are after a training that diverged") {
  const Values all(7, not_a_number), good(7, 0.5);
  CHECK(largest_relative_error(all, good) == infinity);
  CHECK(frobenius_error(all, good) == infinity);
}

TEST_CASE("an infinity equals itself only, and does not make the other errors small") {
  CHECK(largest_relative_error(Values{infinity, 1}, Values{infinity, 1}) == 0);
  CHECK(largest_relative_error(Values{-infinity, 1}, Values{infinity, 1}) == infinity);
  CHECK(largest_relative_error(Values{1e300, 1}, Values{infinity, 1}) == infinity);
  CHECK(largest_relative_error(Values{infinity, 3}, Values{infinity, 2}) == 0.5);
  CHECK(frobenius_error(Values{infinity, 3}, Values{infinity, 2}) == 0.5);
  CHECK(frobenius_error(Values{infinity, 2}, Values{1, 2}) == infinity);
}

TEST_CASE("the largest error is taken over the largest magnitude, and which element has it is known") {
  const Values actual{1, -2, 4.5, 0}, expected{1, -2.25, 4, 0};
  const Comparison c = compare(std::span<const double>(actual), std::span<const double>(expected));
  CHECK(c.error.value() == 0.5);
  CHECK(c.error.at() == 2);
  CHECK(c.relative() == 0.125);
  CHECK(largest_relative_error(std::vector<float>{1, 3}, Values{1, 2}) == 0.5);
  CHECK(frobenius_error(Values{3, 4}, Values{0, 4}) == 0.75);
}

TEST_CASE("where zeros were expected the error is absolute, and lists of different lengths are infinitely far apart") {
  CHECK(largest_relative_error(Values{0, 1e-3}, Values{0, 0}) == 1e-3);
  CHECK(frobenius_error(Values{0, 1e-3}, Values{0, 0}) == infinity);
  CHECK(frobenius_error(Values{0, 0}, Values{0, 0}) == 0);
  CHECK(largest_relative_error(Values{1}, Values{1, 1}) == infinity);
  CHECK(frobenius_error(Values{1}, Values{1, 1}) == infinity);
}

TEST_CASE("a single number's error is relative to what was expected") {
  CHECK(relative_error(1.5, -1) == 2.5);
  CHECK(relative_error(0.25, 0) == 0.25);
  CHECK(relative_error(not_a_number, 1) == infinity);
  CHECK(relative_error(1, not_a_number) == infinity);
  CHECK(relative_error(1, infinity) == infinity);
  CHECK(relative_error(infinity, infinity) == 0);
}
