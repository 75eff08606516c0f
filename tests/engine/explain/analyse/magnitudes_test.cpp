#include "engine/explain/analyse/magnitudes.hpp"

#include <vector>

#include "kernels/tensor/magnitude.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

TEST_CASE("magnitudes are split into those that fp16 represents, represents with fewer digits, and does not") {
  std::vector<std::int64_t> counts(magnitude_bins);
  const auto at = [&](int exponent) -> std::int64_t& {
    return counts[static_cast<std::size_t>(bin_of_exponent(exponent))];
  };
  CHECK(fp16_shares(counts).normal == 0);
  counts[zero_bin] = 10;
  at(-60) = 1;  // in the outermost bin
  at(-25) = 4;
  at(-24) = 20;  // 2^-24, fp16's least number
  at(-15) = 10;
  at(-14) = 30;  // 2^-14, its least normal one
  at(15) = 20;   // 65504 and values that are rounded to it
  at(16) = 2;
  at(40) = 1;
  counts[not_finite_bin] = 2;
  const FormatShares shares = fp16_shares(counts);
  CHECK(shares.zero == Approx(0.10));
  CHECK(shares.below == Approx(0.05));
  CHECK(shares.subnormal == Approx(0.30));
  CHECK(shares.normal == Approx(0.50));
  CHECK(shares.beyond == Approx(0.05));
}
