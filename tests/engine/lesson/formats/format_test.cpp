// All bit patterns of the small formats, and many roundings, compared with references that do not use the conversion:
// the compiler's _Float16 and float, the upper half of an fp32 number (bf16, TF32), a search among all numbers of a
// format, and a file that ml_dtypes wrote.
#include "engine/lesson/formats/format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/tensor/random.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

using namespace rankscope;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Equal; a NaN equals a NaN, and zeros must have the same sign.
bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

std::uint32_t patterns_of(NumberFormat format) { return std::uint32_t{1} << facts_of(format).bits(); }

/// Numbers over all usual exponents of fp64, and near the limits of every format.
std::vector<double> many_numbers(int count) {
  std::vector<double> numbers;
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    const double exponent = uniform(5, 1, at) * 320 - 170, sign = random_word(5, 2, at) % 2 == 0 ? 1 : -1;
    numbers.push_back(sign * std::ldexp(1 + uniform(5, 3, at), static_cast<int>(exponent)));
  }
  return numbers;
}

/// Searches all numbers of a format for the nearest one; of two equally near, the one with the even pattern.
class Search {
 public:
  explicit Search(NumberFormat format) {
    for (std::uint32_t bits = 0; bits < patterns_of(format) / 2; ++bits) {
      const double value = value_of_bits(format, bits);
      if (std::isfinite(value)) all_.push_back(value);  // patterns of positive numbers are in ascending order
    }
  }
  /// nullopt: the value overflows, because it is nearer to the number that would follow the largest one.
  std::optional<double> nearest(double value) const {
    const double magnitude = std::fabs(value), last = all_.back(), gap = last - all_[all_.size() - 2];
    const bool last_is_even = all_.size() % 2 == 1;
    if (magnitude > last + gap / 2 || (magnitude == last + gap / 2 && !last_is_even)) return std::nullopt;
    const auto above = std::lower_bound(all_.begin(), all_.end(), magnitude);
    std::size_t at = static_cast<std::size_t>(above - all_.begin());
    if (at == all_.size()) {
      --at;
    } else if (all_[at] != magnitude) {
      const double up = all_[at] - magnitude, down = magnitude - all_[at - 1];
      if (down < up || (down == up && (at - 1) % 2 == 0)) --at;
    }
    return std::copysign(all_[at], value);
  }

 private:
  std::vector<double> all_;
};

}  // namespace

TEST_CASE("every bit pattern of TF32, bf16, fp16 and fp8 rounds to itself") {
  for (const NumberFormat format : every_number_format) {
    if (format == NumberFormat::fp32) continue;
    INFO(facts_of(format).name);
    std::uint32_t wrong = 0;
    for (std::uint32_t bits = 0; bits < patterns_of(format); ++bits) {
      const double value = value_of_bits(format, bits);
      const std::uint32_t back = rounded_bits(format, value);
      wrong += std::isnan(value) ? !std::isnan(value_of_bits(format, back)) : back != bits;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("all bit patterns of fp16, bf16 and TF32 have the compiler's values") {
  std::uint32_t wrong = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits));
    wrong += !same(value_of_bits(NumberFormat::fp16, bits), static_cast<double>(static_cast<float>(half)));
    wrong += !same(value_of_bits(NumberFormat::bf16, bits), std::bit_cast<float>(bits << 16));
  }
  CHECK(wrong == 0);
  for (std::uint32_t bits = 0; bits < patterns_of(NumberFormat::tf32); ++bits)
    wrong += !same(value_of_bits(NumberFormat::tf32, bits), std::bit_cast<float>(bits << 13));
  CHECK(wrong == 0);
}

TEST_CASE("a million numbers become the same fp32 and fp16 as by the compiler's conversions") {
  std::uint32_t wrong = 0;
  for (const double number : many_numbers(1'000'000)) {
    const auto single = static_cast<float>(number);
    const auto half = static_cast<_Float16>(number);
    wrong += rounded_bits(NumberFormat::fp32, number) != std::bit_cast<std::uint32_t>(single);
    wrong += rounded_bits(NumberFormat::fp16, number) != std::bit_cast<std::uint16_t>(half);
    wrong += !same(value_of_bits(NumberFormat::fp32, std::bit_cast<std::uint32_t>(single)), single);
  }
  CHECK(wrong == 0);
}

TEST_CASE("a number becomes the nearest one of its format, and a tie the even one") {
  const auto format =
      GENERATE(NumberFormat::tf32, NumberFormat::bf16, NumberFormat::fp16, NumberFormat::e4m3, NumberFormat::e5m2);
  const Search search(format);
  INFO(facts_of(format).name);
  std::uint32_t wrong = 0, beyond = 0, ties = 0;
  const auto check = [&](double number) {
    const double stored = value_of_bits(format, rounded_bits(format, number));
    const auto nearest = search.nearest(number);
    wrong += nearest ? !same(stored, *nearest) : std::isfinite(stored);
    beyond += !nearest;
  };
  for (const double number : many_numbers(100'000)) check(number);
  for (std::uint32_t bits = 0; bits < patterns_of(format); bits += format == NumberFormat::tf32 ? 7 : 1) {
    const double value = value_of_bits(format, bits);
    if (!std::isfinite(value)) continue;
    const double next = value + std::copysign(spacing_at(format, bits), value);
    if (std::fabs(next) > range_of(format).largest) continue;
    const double middle = (value + next) / 2;  // exact: it has one bit more
    for (const double number : {middle, std::nextafter(middle, infinity), std::nextafter(middle, -infinity)})
      check(number);
    ++ties;
  }
  CHECK(wrong == 0);
  CHECK(beyond > 100);
  CHECK(ties > 100);
}

TEST_CASE("conversions to and from fp8 agree with ml_dtypes") {
  std::ifstream file(test::source_folder() + "/tests/engine/lesson/formats/ml_dtypes.txt");
  REQUIRE(file);
  int patterns = 0, roundings = 0, wrong = 0, part = 0;
  const auto number = [](const std::string& word) { return std::strtod(word.c_str(), nullptr); };
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) {
      ++part;
      continue;
    }
    std::istringstream words(line);
    std::vector<std::string> cells;
    for (std::string word; words >> word;) cells.push_back(word);
    REQUIRE(cells.size() == (part == 2 ? 3u : 5u));
    if (part == 2) {
      const auto bits = static_cast<std::uint32_t>(std::stoul(cells[0], nullptr, 16));
      wrong += !same(value_of_bits(NumberFormat::e4m3, bits), number(cells[1]));
      wrong += !same(value_of_bits(NumberFormat::e5m2, bits), number(cells[2]));
      ++patterns;
      continue;
    }
    std::size_t column = 1;
    for (const NumberFormat format : {NumberFormat::bf16, NumberFormat::fp16, NumberFormat::e4m3, NumberFormat::e5m2}) {
      const auto expected = static_cast<std::uint32_t>(std::stoul(cells[column++], nullptr, 16));
      const std::uint32_t bits = rounded_bits(format, number(cells[0]));
      const bool both_nan = std::isnan(value_of_bits(format, bits)) && std::isnan(value_of_bits(format, expected));
      INFO(cells[0] << " in " << facts_of(format).name << ": " << bits << ", expected " << expected);
      CHECK((bits == expected || both_nan));
      ++roundings;
    }
  }
  CHECK(wrong == 0);
  CHECK(patterns == 256);
  CHECK(roundings > 4000);
}

TEST_CASE("the ranges are the published ones") {
  struct Row {
    NumberFormat format;
    double least, least_normal, largest;
  };
  const Row rows[] = {{NumberFormat::fp32, 0x1p-149, 0x1p-126, 0x1.fffffep127},
                      {NumberFormat::tf32, 0x1p-136, 0x1p-126, 0x1.ffcp127},
                      {NumberFormat::bf16, 0x1p-133, 0x1p-126, 0x1.fep127},
                      {NumberFormat::fp16, 0x1p-24, 0x1p-14, 65504},
                      {NumberFormat::e4m3, 0x1p-9, 0x1p-6, 448},
                      {NumberFormat::e5m2, 0x1p-16, 0x1p-14, 57344},
                      {NumberFormat::int8, 1, 1, 127}};
  for (const Row& row : rows) {
    INFO(facts_of(row.format).name);
    const FormatRange range = range_of(row.format);
    CHECK(range.least == row.least);
    CHECK(range.least_normal == row.least_normal);
    CHECK(range.largest == row.largest);
    CHECK(number_format_named(facts_of(row.format).name) == row.format);
  }
  CHECK(range_of(NumberFormat::fp32).digits == Approx(7.22).margin(0.01));
  CHECK(range_of(NumberFormat::bf16).digits == Approx(2.41).margin(0.01));
  CHECK(number_format_named("e4m3") == NumberFormat::e4m3);
  CHECK_FALSE(number_format_named("fp8").has_value());
}

TEST_CASE("E4M3 has no infinity and one NaN, and E5M2 has both") {
  int nans = 0, infinities = 0;
  for (std::uint32_t bits = 0; bits < 256; ++bits) {
    nans += std::isnan(value_of_bits(NumberFormat::e4m3, bits));
    infinities += std::isinf(value_of_bits(NumberFormat::e4m3, bits));
  }
  CHECK(nans == 2);  // one for each sign
  CHECK(infinities == 0);
  CHECK(std::isnan(value_of_bits(NumberFormat::e4m3, 0x7f)));
  CHECK(rounded_bits(NumberFormat::e4m3, infinity) == 0x7f);
  CHECK(rounded_bits(NumberFormat::e5m2, -infinity) == 0xfc);
  CHECK(rounded_bits(NumberFormat::e4m3, 1e300) == 0x7f);
  CHECK(rounded_bits(NumberFormat::fp16, -1e300) == 0xfc00);
}

TEST_CASE("int8 holds whole numbers in two's complement, ties to even, and stops at its ends") {
  struct Row {
    double number;
    std::uint32_t bits;
    double value;
  };
  for (const Row& row : {Row{1.5, 2, 2}, Row{2.5, 2, 2}, Row{-0.5, 0, 0}, Row{-1.5, 0xfe, -2}, Row{127.4, 127, 127},
                         Row{1e30, 127, 127}, Row{-1e30, 0x80, -128}, Row{-1, 0xff, -1}}) {
    INFO(row.number);
    CHECK(rounded_bits(NumberFormat::int8, row.number) == row.bits);
    CHECK(value_of_bits(NumberFormat::int8, row.bits) == row.value);
  }
  CHECK(rounded_bits(NumberFormat::int8, std::nan("")) == 0);
}

TEST_CASE("numbers are spaced as the next bit pattern says") {
  for (const NumberFormat format : {NumberFormat::bf16, NumberFormat::fp16, NumberFormat::e4m3, NumberFormat::e5m2}) {
    std::uint32_t wrong = 0;
    for (std::uint32_t bits = 0; bits + 1 < facts_of(format).sign_mask(); ++bits) {
      const double value = value_of_bits(format, bits), next = value_of_bits(format, bits + 1);
      if (std::isfinite(next)) wrong += next - value != spacing_at(format, bits);
    }
    CHECK(wrong == 0);
  }
  CHECK(spacing_at(NumberFormat::fp16, 0x3c00) == 0x1p-10);
  CHECK(spacing_at(NumberFormat::bf16, 0x3f80) == 0x1p-7);
}
