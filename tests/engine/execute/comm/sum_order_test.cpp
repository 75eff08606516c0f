// Sums have exactly the bits of the documented order, whatever the timing.
#include <bit>
#include <chrono>
#include <cmath>
#include <random>

#include "engine/plan/collective/transfer.hpp"
#include "tests/catch.hpp"
#include "tests/engine/execute/comm/collective_calls.hpp"
#include "tests/engine/execute/comm/ranks.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

// A simple reference for each type: a value, and its rounding when it is stored.
float rounded_to_bits(float x,
                      int bits) {  // of the significand, nearest even, no overflow or subnormals in these tests
  if (x == 0) return 0;
  int exponent = 0;
  const float fraction = std::frexp(x, &exponent);  // [0.5, 1)
  return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
}

double stored(DType type, double x) {
  if (type == DType::f64) return x;
  if (type == DType::f32) return static_cast<float>(x);
  return rounded_to_bits(static_cast<float>(x), type == DType::bf16 ? 8 : 11);
}

double sum_of(DType type, double a, double b) {
  if (type == DType::f64) return a + b;
  return stored(type, static_cast<float>(a) + static_cast<float>(b));
}

void write(std::byte* to, DType type, double x) {
  const auto f = static_cast<float>(x);
  const auto bits = std::bit_cast<std::uint32_t>(f);
  std::uint16_t half = static_cast<std::uint16_t>(bits >> 16);
  if (type == DType::f16)
    half = static_cast<std::uint16_t>(
        f == 0 ? 0 : (bits >> 16 & 0x8000u) | (((bits >> 23 & 0xffu) - 112) << 10) | (bits >> 13 & 0x3ffu));
  if (type == DType::f64) std::memcpy(to, &x, sizeof x);
  if (type == DType::f32) std::memcpy(to, &f, sizeof f);
  if (type == DType::bf16 || type == DType::f16) std::memcpy(to, &half, sizeof half);
}

// Arbitrary numbers of about four binades, exact in the type.
double number(DType type, int member, std::int64_t element) {
  std::mt19937 random(static_cast<unsigned>(member * 7919 + element * 104729 + 13));
  const double x = std::ldexp(1.0 + std::generate_canonical<double, 53>(random), static_cast<int>(random() % 4));
  return stored(type, random() % 2 ? x : -x);
}

std::vector<std::byte> encoded(DType type, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(bytes_of(type)));
  for (std::size_t e = 0; e < values.size(); ++e)
    write(bytes.data() + e * static_cast<std::size_t>(bytes_of(type)), type, values[e]);
  return bytes;
}

using Group = std::vector<std::vector<double>>;  // by member

Group numbers(DType type, int n, std::int64_t elements) {
  Group group(n, std::vector<double>(elements));
  for (int m = 0; m < n; ++m)
    for (std::int64_t e = 0; e < elements; ++e) group[m][e] = number(type, m, e);
  return group;
}

// Executes the transfer list, phase by phase.
void run(const std::vector<Transfer>& list, DType type, Group& group) {
  for (std::size_t i = 0; i < list.size();) {
    const Group before = group;
    const int phase = list[i].phase;
    for (; i < list.size() && list[i].phase == phase; ++i)
      for (std::int64_t e = 0; e < list[i].elements; ++e) {
        const double value = before[list[i].from][list[i].from_offset + e];
        double& target = group[list[i].to][list[i].to_offset + e];
        target = list[i].add ? sum_of(type, target, value) : value;
      }
  }
}

// Sums in member order, rounded once.
void sum_in_member_order(DType type, Group& group) {
  std::vector<double> sums(group[0].size());
  for (std::size_t e = 0; e < sums.size(); ++e) {
    double sum = group[0][e];
    for (std::size_t m = 1; m < group.size(); ++m)
      sum = type == DType::f64 ? sum + group[m][e] : static_cast<float>(sum) + static_cast<float>(group[m][e]);
    sums[e] = stored(type, sum);
  }
  group.assign(group.size(), sums);
}

std::vector<std::vector<std::byte>> results(int n, const CommOptions& options, OpKind kind, DType type,
                                            const char* algorithm, std::int64_t elements, int root) {
  std::vector<std::vector<std::byte>> all(n);
  const auto errors = run_ranks(n, options, [&](World& world) {
    const auto group = world.group(first_ranks(n), Lane::data, algorithm);
    Buffers b(kind, type, n, elements);
    std::vector<double> values(b.elements);
    for (std::int64_t e = 0; e < b.elements; ++e) values[e] = number(type, group->index(), e);
    b.whole = encoded(type, values);
    b.part.assign(b.whole.begin(), b.whole.begin() + static_cast<std::ptrdiff_t>(b.part.size()));
    call(*group, b, root);
    all[world.rank()] = result_of(*group, b, root);
  });
  for (const std::string& error : errors) CHECK(error.empty());
  return all;
}

}  // namespace

TEST_CASE("a sum is bit-equal to its documented order: the transfer list's, or member order") {
  for (int n = 1; n <= 9; ++n)
    for (const std::string algorithm : algorithms)
      for (OpKind kind : {OpKind::reduce, OpKind::all_reduce, OpKind::reduce_scatter})
        for (DType type : {DType::f64, DType::f32, DType::bf16, DType::f16}) {
          const int root = n / 2;
          const std::int64_t elements = kind == OpKind::reduce_scatter ? 5 * n : 37;
          Group group = numbers(type, n, elements);
          if (algorithm == "auto")
            sum_in_member_order(type, group);
          else
            run(transfers_of(kind, *algorithm_of(algorithm), n, elements, root), type, group);
          const auto got = results(n, {}, kind, type, algorithm.c_str(), elements, root);
          for (int m = 0; m < n; ++m) {
            if (kind == OpKind::reduce && m != root) continue;
            std::vector<double> expected = group[m];
            if (kind == OpKind::reduce_scatter)
              expected.assign(group[m].begin() + m * 5, group[m].begin() + (m + 1) * 5);
            INFO(algorithm << " " << name_of(kind) << " over " << n << " in " << name_of(type) << ", member " << m);
            REQUIRE(got[m] == encoded(type, expected));
          }
        }
}

TEST_CASE("random delays before calls and between phases change no bit of any collective") {
  for (const char* algorithm : algorithms)
    for (OpKind kind : collectives) {
      const auto undelayed = results(5, {}, kind, DType::f32, algorithm, 103, 2);
      for (unsigned seed = 0; seed < 3; ++seed) {
        const auto nap = [seed](int rank, int phase) {
          std::mt19937 random(seed * 1000 + static_cast<unsigned>(rank * 100 + phase));
          random.discard(3);
          std::this_thread::sleep_for(std::chrono::microseconds(random() % 400));
        };
        CommOptions options;
        options.before = [&](int rank, Lane, const char*) { nap(rank, 99); };
        options.before_phase = [&](int rank, Lane, const char*, int phase) { nap(rank, phase); };
        INFO(algorithm << " " << name_of(kind) << ", delays " << seed);
        REQUIRE(results(5, options, kind, DType::f32, algorithm, 103, 2) == undelayed);
      }
    }
}
