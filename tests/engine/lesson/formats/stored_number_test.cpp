#include "engine/lesson/formats/stored_number.hpp"

#include <cmath>

#include "kernels/tensor/random.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

TEST_CASE("1.001 becomes 1.00098 in fp16 and 1 in bf16, with the errors computed by hand") {
  const StoredNumber fp16 = store(NumberFormat::fp16, 1.001), bf16 = store(NumberFormat::bf16, 1.001);
  CHECK(fp16.value == 1 + 0x1p-10);
  CHECK(fp16.error() == Approx(1 + 1.0 / 1024 - 1.001));
  CHECK(fp16.relative_error() == Approx((1.0 / 1024 - 0.001) / 1.001));
  CHECK(fp16.outcome == RoundingOutcome::rounded);
  CHECK(fp16.spacing == 0x1p-10);
  CHECK(bf16.value == 1);
  CHECK(bf16.error() == Approx(-0.001));
  CHECK(bf16.spacing == 0x1p-7);
}

TEST_CASE("each outcome of a conversion has its name") {
  struct Row {
    NumberFormat format;
    double number;
    RoundingOutcome outcome;
  };
  const Row rows[] = {
      {NumberFormat::fp16, 1.5, RoundingOutcome::exact},           {NumberFormat::fp16, 0, RoundingOutcome::exact},
      {NumberFormat::fp16, 70000, RoundingOutcome::overflow},      {NumberFormat::fp16, 65519.9, RoundingOutcome::rounded},
      {NumberFormat::fp16, 65520, RoundingOutcome::overflow},      {NumberFormat::fp16, 0x1p-25, RoundingOutcome::underflow},
      {NumberFormat::fp16, 0x1.1p-25, RoundingOutcome::subnormal}, {NumberFormat::fp16, 0x1p-20, RoundingOutcome::subnormal},
      {NumberFormat::bf16, 70000, RoundingOutcome::rounded},       {NumberFormat::e4m3, 464, RoundingOutcome::rounded},
      {NumberFormat::e4m3, 465, RoundingOutcome::overflow},        {NumberFormat::e5m2, 61440, RoundingOutcome::overflow},
      {NumberFormat::fp32, INFINITY, RoundingOutcome::no_number},  {NumberFormat::int8, 127.4, RoundingOutcome::rounded},
      {NumberFormat::int8, 127.5, RoundingOutcome::overflow},      {NumberFormat::int8, -128, RoundingOutcome::exact},
      {NumberFormat::int8, 0.5, RoundingOutcome::underflow}};
  for (const Row& row : rows) {
    INFO(facts_of(row.format).name << " " << row.number);
    CHECK(name_of(store(row.format, row.number).outcome) == name_of(row.outcome));
  }
}

TEST_CASE("a scale is multiplied back: int8 with steps of a hundredth holds 0.3") {
  const StoredNumber stored = store(NumberFormat::int8, 0.304, 0.01);
  CHECK(stored.bits == 30);
  CHECK(stored.value == Approx(0.3));
  CHECK(stored.spacing == Approx(0.01));
  CHECK(store(NumberFormat::int8, 2, 0.01).outcome == RoundingOutcome::overflow);
  CHECK(store_bits(NumberFormat::int8, 0xff, 0.01).value == Approx(-0.01));
  CHECK(store_bits(NumberFormat::fp16, 0x3c01).value == 1 + 0x1p-10);
}

TEST_CASE("an update of a thousandth is lost in bf16 and kept in fp16, one of a ten-thousandth is lost in both") {
  CHECK(add_update(NumberFormat::bf16, 1, 1e-3).lost());
  CHECK_FALSE(add_update(NumberFormat::fp16, 1, 1e-3).lost());
  CHECK(add_update(NumberFormat::fp16, 1, 1e-3).moved() == 0x1p-10);
  CHECK(add_update(NumberFormat::bf16, 1, 1e-4).lost());
  CHECK(add_update(NumberFormat::fp16, 1, 1e-4).lost());
  CHECK_FALSE(add_update(NumberFormat::fp32, 1, 1e-4).lost());
  CHECK_FALSE(add_update(NumberFormat::bf16, 1, 0).lost());  // the update was zero
}

TEST_CASE("a sum is rounded once: in fp32 it is what long double arithmetic and one rounding give") {
  std::uint32_t wrong = 0, twice = 0;
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    const double weight = static_cast<double>(static_cast<float>(1 + uniform(3, 1, i)));
    // Half of the last place, and a much smaller part that decides the rounding; a long double (64 bits) holds the
    // exact sum.
    const double update = 0x1p-24 + std::ldexp(static_cast<double>(random_word(3, 2, i) % 17) - 8, -60);
    const auto once = static_cast<float>(static_cast<long double>(weight) + static_cast<long double>(update));
    wrong += add_update(NumberFormat::fp32, weight, update).after != static_cast<double>(once);
    twice += static_cast<float>(weight + update) != once;
  }
  CHECK(wrong == 0);
  CHECK(twice > 0);  // such cases occur: rounding to fp64 first would be wrong
}
