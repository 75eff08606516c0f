#include "kernels/tensor/random.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/catch.hpp"

using namespace rankscope;

TEST_CASE("Philox4x32-10 gives the known answers of its authors") {
  struct Row {
    RandomBlock counter;
    std::uint32_t key0, key1;
    RandomBlock answer;
  };
  // From kat_vectors of Random123, the reference implementation by the paper's authors.
  const Row rows[] = {
      {{{0, 0, 0, 0}}, 0, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
      {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
       0xffffffff,
       0xffffffff,
       {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
      {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
       0xa4093822,
       0x299f31d0,
       {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
  };
  for (const Row& row : rows) {
    const RandomBlock got = philox4x32_10(row.counter, row.key0, row.key1);
    for (int i = 0; i < 4; ++i) CHECK(got.word[i] == row.answer.word[i]);
  }
}

TEST_CASE("a word, a pair of words and a block are the same bits") {
  const std::uint64_t seed = 0x123456789abcdef0, stream = random_stream(RandomPurpose::dropout, 7);
  for (std::uint64_t index = 0; index < 64; ++index) {
    const RandomBlock block = random_block(seed, stream, index / 4);
    CHECK(random_word(seed, stream, index) == block.word[index % 4]);
    const RandomBlock wide = random_block(seed, stream, index / 2);
    const std::uint64_t bits = random_bits(seed, stream, index);
    CHECK(static_cast<std::uint32_t>(bits) == wide.word[index % 2 * 2]);
    CHECK(static_cast<std::uint32_t>(bits >> 32) == wide.word[index % 2 * 2 + 1]);
  }
}

TEST_CASE("uniform numbers fill [0, 1) evenly and streams differ") {
  const int n = 200000;
  double sum = 0, squares = 0;
  int equal = 0;
  std::vector<int> bins(16);
  for (int i = 0; i < n; ++i) {
    const double u = uniform(42, 1, i);
    REQUIRE(u >= 0);
    REQUIRE(u < 1);
    sum += u;
    squares += u * u;
    ++bins[static_cast<int>(u * 16)];
    equal += u == uniform(42, 2, i);
  }
  CHECK(equal == 0);
  CHECK(sum / n == Approx(0.5).margin(5 * std::sqrt(1.0 / 12 / n)));
  CHECK(squares / n == Approx(1.0 / 3).margin(5 * std::sqrt(4.0 / 45 / n)));
  double chi = 0;
  for (int count : bins) chi += (count - n / 16.0) * (count - n / 16.0) / (n / 16.0);
  CHECK(chi < 45);  // 15 degrees of freedom: one generator in ten thousand exceeds 45
}

TEST_CASE("normal numbers have the moments of the normal distribution, and depend on their index only") {
  const int n = 200000;
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0, neighbours = 0, before = 0;
  for (int i = 0; i < n; ++i) {
    const double x = normal(7, 3, i);
    REQUIRE(std::isfinite(x));
    m1 += x;
    m2 += x * x;
    m3 += x * x * x;
    m4 += x * x * x * x;
    neighbours += x * before;
    before = x;
  }
  const double error = 5 / std::sqrt(n);
  CHECK(m1 / n == Approx(0).margin(error));
  CHECK(m2 / n == Approx(1).margin(error * std::sqrt(2)));
  CHECK(m3 / n == Approx(0).margin(error * std::sqrt(15)));
  CHECK(m4 / n == Approx(3).margin(error * std::sqrt(96)));
  CHECK(neighbours / n == Approx(0).margin(error));
  const NormalPair pair = normal_pair(7, 3, 500);
  CHECK(pair.first == normal(7, 3, 1000));
  CHECK(pair.second == normal(7, 3, 1001));
}

TEST_CASE("elements are dropped with the given probability") {
  CHECK(drop_threshold(0) == 0);
  CHECK(drop_threshold(1) == std::uint64_t{1} << 32);
  const double p = 0.1;
  const int n = 100000;
  int dropped = 0;
  for (int i = 0; i < n; ++i) dropped += random_word(1, 1, i) < drop_threshold(p);
  CHECK(dropped / static_cast<double>(n) == Approx(p).margin(5 * std::sqrt(p * (1 - p) / n)));
}
