#include "engine/lesson/formats/shares.hpp"

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "engine/lesson/formats/scales.hpp"
#include "engine/lesson/formats/stored_number.hpp"
#include "kernels/tensor/magnitude.hpp"
#include "kernels/tensor/random.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

using namespace rankscope;

namespace {

std::size_t bin_of(double value) {
  return value == 0 ? zero_bin : static_cast<std::size_t>(bin_of_exponent(std::ilogb(value)));
}

std::vector<std::int64_t> counted(const std::vector<double>& values) {
  std::vector<std::int64_t> counts(magnitude_bins);
  for (const double value : values) ++counts[bin_of(value)];
  return counts;
}

std::vector<double> drawn(int count, double exponent) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i)
    values.push_back(normal(9, 1, static_cast<std::uint64_t>(i)) *
                     std::exp2(exponent + 6 * normal(9, 2, static_cast<std::uint64_t>(i))));
  return values;
}

}  // namespace

TEST_CASE("a format's range in powers of two is that of its numbers") {
  const auto is = [](NumberFormat format, int least, int normal, int last, bool whole) {
    const ExponentRange range = exponents_of(format);
    return range.least == least && range.least_normal == normal && range.last == last && range.last_is_whole == whole;
  };
  CHECK(is(NumberFormat::fp32, -149, -126, 127, true));
  CHECK(is(NumberFormat::bf16, -133, -126, 127, true));
  CHECK(is(NumberFormat::fp16, fp16_least_exponent, fp16_least_normal_exponent, fp16_last_exponent, true));
  CHECK(is(NumberFormat::e4m3, -9, -6, 8, false));
  CHECK(is(NumberFormat::e5m2, -16, -14, 15, false));
  CHECK(is(NumberFormat::int8, 0, 6, 6, true));
}

TEST_CASE("shares by powers of two agree with the numbers converted one by one") {
  const auto format = GENERATE(NumberFormat::fp16, NumberFormat::e4m3, NumberFormat::e5m2, NumberFormat::int8);
  const int shift = GENERATE(-3, 0, 9);
  const std::vector<double> values = drawn(20'000, -10);
  const FormatShares shares = shares_in(exponents_of(format), counted(values), shift);
  double below = 0, subnormal = 0, over = 0;
  const FormatRange range = range_of(format);
  for (const double value : values) {
    const double scaled = std::fabs(std::ldexp(value, shift));
    below += scaled > 0 && scaled < range.least;
    const double normal = facts_of(format).is_integer() ? 64 : range.least_normal;
    subnormal += scaled >= range.least && scaled < normal;
    over += store(format, scaled).outcome == RoundingOutcome::overflow;
  }
  const auto n = static_cast<double>(values.size());
  INFO(facts_of(format).name << " times 2^" << shift);
  CHECK(shares.below == Approx(below / n));
  CHECK(shares.subnormal == Approx(subnormal / n));
  // A limit within a hundredth of a power of two is treated as that power of two (int8: 127.5, fp16: 65,520).
  CHECK(shares.beyond <= over / n + 1e-3);
  CHECK(shares.beyond + shares.edge >= over / n - 1e-3);
  CHECK(shares.zero + shares.below + shares.subnormal + shares.normal + shares.edge + shares.beyond == Approx(1));
}

TEST_CASE("the largest scale is the last one without overflow") {
  const auto format = GENERATE(NumberFormat::fp16, NumberFormat::e4m3, NumberFormat::e5m2, NumberFormat::int8);
  const ExponentRange range = exponents_of(format);
  const std::vector<std::int64_t> counts = counted(drawn(5'000, -20));
  const auto shift = largest_shift(range, counts);
  REQUIRE(shift.has_value());
  const FormatShares fits = shares_in(range, counts, *shift), over = shares_in(range, counts, *shift + 1);
  CHECK(fits.beyond + fits.edge == 0);
  CHECK(over.beyond + over.edge > 0);
  CHECK_FALSE(largest_shift(range, counted({0, 0})).has_value());
  CHECK_FALSE(largest_shift(range, counted({0x1p30})).has_value());  // in the outermost bin: the size is unknown
}

TEST_CASE("the example tensors match their descriptions") {
  const std::vector<StatedTensor> tensors = stated_tensors();
  REQUIRE(tensors.size() == 4);
  const auto deviation = [](const std::vector<double>& values, std::size_t from, std::size_t count) {
    double squares = 0;
    for (std::size_t i = from; i < from + count; ++i) squares += values[i] * values[i];
    return std::sqrt(squares / static_cast<double>(count));
  };
  for (const StatedTensor& tensor : tensors) REQUIRE(tensor.values.size() == stated_elements);
  CHECK(deviation(tensors[0].values, 0, stated_elements) == Approx(0x1p-6).epsilon(0.05));
  CHECK(deviation(tensors[1].values, 0, stated_elements) == Approx(0x1p-12).epsilon(0.05));
  CHECK(deviation(tensors[2].values, 64, 64) == Approx(0x1p-10).epsilon(0.3));
  CHECK(deviation(tensors[2].values, 7 * 64, 64) == Approx(0x1p-22).epsilon(0.3));
  CHECK(deviation(tensors[3].values, 1, 511) == Approx(0x1p-18).epsilon(0.15));
  CHECK(std::fabs(tensors[3].values[512]) < 5 * 0x1p-8);
}

TEST_CASE("the losses of scales on the example tensors agree with numpy and ml_dtypes") {
  std::ifstream file(test::source_folder() + "/tests/engine/lesson/formats/scales.txt");
  REQUIRE(file);
  const std::vector<StatedTensor> tensors = stated_tensors();
  const std::map<std::string, Scaling> scalings{
      {"none", Scaling::none}, {"one", Scaling::one}, {"tensor", Scaling::per_tensor}, {"block", Scaling::per_block}};
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string format, scaling;
    double zeroed = 0, error = 0;
    REQUIRE(words >> format >> scaling >> zeroed >> error);
    INFO(line);
    const ScaleLoss loss = loss_of(number_format_named(format).value(), scalings.at(scaling), tensors);
    CHECK(loss.zeroed == Approx(zeroed).margin(1e-4));  // a number near half of the smallest one may go either way
    CHECK(loss.error == Approx(error).epsilon(1e-3).margin(1e-6));
    ++rows;
  }
  CHECK(rows == 20);
}

TEST_CASE("a finer scale loses less, and the loss agrees with a plain loop") {
  const std::vector<StatedTensor> tensors = stated_tensors();
  const auto format = GENERATE(NumberFormat::fp16, NumberFormat::e4m3, NumberFormat::e5m2, NumberFormat::int8);
  INFO(facts_of(format).name);
  const ScaleLoss none = loss_of(format, Scaling::none, tensors), one = loss_of(format, Scaling::one, tensors),
                  tensor = loss_of(format, Scaling::per_tensor, tensors),
                  block = loss_of(format, Scaling::per_block, tensors);
  CHECK(one.zeroed <= none.zeroed);
  CHECK(tensor.zeroed <= one.zeroed);
  CHECK(block.zeroed <= tensor.zeroed);
  CHECK(block.error <= tensor.error);
  for (const ScaleLoss& loss : {none, one, tensor, block}) CHECK(loss.beyond == 0);
  CHECK(one.scales == 1);
  CHECK(tensor.scales == 4);
  CHECK(block.scales == 4 * stated_elements / block_elements);

  // Half of the smallest number and less becomes zero, so this can be counted without a conversion.
  std::int64_t zeroed = 0;
  for (const StatedTensor& one_tensor : tensors) {
    double largest = 0;
    for (const double value : one_tensor.values) largest = std::max(largest, std::fabs(value));
    for (const double value : one_tensor.values)
      zeroed += std::fabs(value) / largest * range_of(format).largest <= range_of(format).least / 2;
  }
  CHECK(tensor.zeroed == Approx(static_cast<double>(zeroed) / (4.0 * stated_elements)));
}
