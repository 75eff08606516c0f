// 8-bit Adam: tests of its quantiser, and a comparison of the optimizer with full Adam.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/execute/optimizer/optimizer.hpp"
#include "kernels/cpu/cpu.hpp"
#include "kernels/cpu/loops.hpp"
#include "kernels/tensor/random.hpp"
#include "tests/catch.hpp"
#include "tests/engine/execute/optimizer/optimizer_states.hpp"

using namespace rankscope;
using kernels::cpu::Loops;

namespace {

/// Quantises and restores values, in one arithmetic type.
template <class A>
struct Quantiser {
  const Loops& loops;
  bool is_signed;

  std::vector<A> levels(A scale) const {
    std::vector<std::uint8_t> codes(256);
    for (int c = 0; c < 256; ++c) codes[static_cast<std::size_t>(c)] = static_cast<std::uint8_t>(c);
    return back(codes, scale);
  }
  std::vector<A> back(const std::vector<std::uint8_t>& codes, A scale) const {
    std::vector<A> x(codes.size());
    loops.dequantise(x.data(), codes.data(), &scale, static_cast<std::int64_t>(x.size()), is_signed);
    return x;
  }
  std::vector<std::uint8_t> codes(const std::vector<A>& x, A& scale) const {
    std::vector<std::uint8_t> result(x.size());
    loops.quantise(result.data(), &scale, x.data(), static_cast<std::int64_t>(x.size()), is_signed);
    return result;
  }
};

template <class A>
void check_quantiser(const Loops& loops, bool is_signed) {
  const Quantiser<A> q{loops, is_signed};
  const std::vector<A> levels = q.levels(1);
  // Seven decades of 2^6-e (signed) or 2^7-e equal bins, 0 and 1; some bin centres are computed by hand.
  CHECK(std::is_sorted(levels.begin(), levels.end()));
  CHECK(std::adjacent_find(levels.begin(), levels.end()) == levels.end());
  CHECK(levels.back() == 1);
  CHECK(levels[is_signed ? 127 : 0] == 0);
  CHECK(levels[254] == Approx(1 - 0.45 / (is_signed ? 64 : 128)));
  CHECK(levels[is_signed ? 128 : 1] == Approx(1e-6 * (is_signed ? 0.55 : 0.325)));
  if (is_signed)
    for (int c = 1; c <= 127; ++c)
      CHECK(levels[static_cast<std::size_t>(127 - c)] == -levels[static_cast<std::size_t>(127 + c)]);

  // Every code is restored as itself for any scale, because the block contains level 1.
  for (const A expected : {A(1), A(3.7e-9), A(12345.678)}) {
    A scale = 0;
    const std::vector<A> values = q.levels(expected);
    const std::vector<std::uint8_t> codes = q.codes(values, scale);
    CHECK(scale == expected);
    for (int c = 0; c < 256; ++c) REQUIRE(codes[static_cast<std::size_t>(c)] == c);
    CHECK(q.back(codes, scale) == values);
  }

  // The nearest level, found by comparison with all; except for ties and roundings.
  std::vector<A> x(256);
  for (std::uint64_t round = 0; round < 40; ++round) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::uint64_t bits = random_bits(7, 1, round * x.size() + i);
      const double u = static_cast<double>(bits % 1000003) / 1000003,
                   size = std::pow(10.0, -static_cast<double>(bits >> 32 & 7));
      x[i] = static_cast<A>(is_signed && (bits >> 40 & 1) ? -u * size : u * size);
    }
    x[static_cast<std::size_t>(round)] = 1;
    A scale = 0;
    const std::vector<std::uint8_t> codes = q.codes(x, scale);
    const std::vector<A> y = q.back(codes, scale);
    REQUIRE(scale == 1);
    for (std::size_t i = 0; i < x.size(); ++i) {
      A nearest = 2;
      for (const A level : levels) nearest = std::min(nearest, std::abs(level - x[i]));
      REQUIRE(std::abs(y[i] - x[i]) <= nearest * (1 + A(1e-4)) + A(1e-7) * std::abs(x[i]));
    }
  }

  // Zero, and values next to zero, have no inverse.
  for (const A tiny : {A(0), std::numeric_limits<A>::denorm_min()}) {
    A scale = 1;
    const std::vector<std::uint8_t> codes = q.codes(std::vector<A>(100, tiny), scale);
    const std::vector<A> y = q.back(codes, scale);
    for (const A value : y) CHECK(std::abs(value) <= tiny);
  }
}

constexpr std::int64_t elements = 20001;  // the last block is incomplete

struct Trained {
  std::vector<float> parameter;
  std::vector<std::vector<std::byte>> states;
  std::vector<StateSpec> specs;
};

/// Runs steps on one tensor. `spread`: the scale of every second gradient.
Trained train(const std::string& optimizer, int steps, double spread = 0.1) {
  constexpr std::int64_t n = elements;
  TrainSpec spec;
  spec.optimizer = optimizer;
  spec.learning_rate = 1e-3;
  spec.hyper.weight_decay = 0.0;
  Trained t;
  t.specs = optimizer_states(spec, DType::f32, {n});
  std::vector<float> gradient(n);
  t.parameter.resize(n);
  UpdateOperands operands{{t.parameter.data(), DType::f32, {n}}, {gradient.data(), DType::f32, {n}}, {}, false};
  for (const StateSpec& state : t.specs) {
    t.states.emplace_back(static_cast<std::size_t>(state.shape.elements() * bytes_of(state.type)));
    operands.states.push_back({t.states.back().data(), state.type, state.shape});
  }
  Workspace workspace;
  const Launch update = bind_update(spec, {&operands, 1}, nullptr, kernels::cpu_kernels(), workspace);
  workspace.reserve();
  for (int step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      // A constant part and noise.
      const double size = i % 2 == 0 ? 1 : spread;
      gradient[i] = static_cast<float>(
          size * (std::sin(static_cast<double>(i)) + 0.5 * normal(3, 1, static_cast<std::uint64_t>(step) * n + i)));
    }
    update({.step = static_cast<std::uint64_t>(step)});
  }
  return t;
}

}  // namespace

TEST_CASE("dynamic tree quantisation has 256 levels, restores each exactly, and chooses the nearest one") {
  const std::string instruction_set(GENERATE(from_range(kernels::cpu_instruction_sets())));
  const bool is_signed = GENERATE(true, false);
  const kernels::Options options{.threads = 1, .instruction_set = instruction_set};
  INFO(instruction_set << (is_signed ? " signed" : " unsigned"));
  check_quantiser<float>(kernels::cpu::loops_for(DType::f32, options), is_signed);
  check_quantiser<float>(kernels::cpu::loops_for(DType::bf16, options), is_signed);
  check_quantiser<double>(kernels::cpu::loops_for(DType::f64, options), is_signed);
}

TEST_CASE("8-bit Adam's first step equals AdamW's bit for bit: only its stored states are rounded") {
  CHECK(train("adam8bit", 1).parameter == train("adamw", 1).parameter);
}

TEST_CASE("the error of 8-bit Adam's states after a step is at most the bin width of their block") {
  const Trained small = train("adam8bit", 1), full = train("adamw", 1);
  const kernels::Options options;
  const Loops& loops = kernels::cpu::loops_for(DType::f32, options);
  for (const std::size_t moment : {std::size_t{0}, std::size_t{1}}) {
    const auto* scales = reinterpret_cast<const float*>(small.states[2 + moment].data());
    const auto* codes = reinterpret_cast<const std::uint8_t*>(small.states[moment].data());
    const auto* exact = reinterpret_cast<const float*>(full.states[moment].data());
    // Half a bin of decade e, relative to the scale. Just below a decade's end the nearest level may be the first of
    // the next decade, which is at most three halves away; below the least level there is only 0.
    const auto half_bin = [&](int e) { return 0.45 * std::pow(10.0, -e) / std::pow(2.0, (moment == 0 ? 6 : 7) - e); };
    const double least_level = 1e-7 + half_bin(6);
    for (std::int64_t first = 0; first < elements; first += 256) {
      const std::int64_t count = std::min<std::int64_t>(256, elements - first);
      const double scale = static_cast<double>(scales[first / 256]);
      float kept[256];
      loops.dequantise(kept, codes + first, scales + first / 256, count, moment == 0);
      for (std::int64_t i = 0; i < count; ++i) {
        const double size = std::abs(static_cast<double>(exact[first + i])) / scale;
        const int e = std::clamp(static_cast<int>(-std::log10(std::max(size, 1e-30))), 0, 6);
        const double error = std::abs(static_cast<double>(kept[i]) - static_cast<double>(exact[first + i])) / scale;
        REQUIRE(error <= std::max(3.01 * half_bin(e), least_level));
      }
    }
  }
}

TEST_CASE("after fifty steps 8-bit Adam differs from AdamW by at most a twentieth of AdamW's change") {
  const Trained small = train("adam8bit", 50), full = train("adamw", 50);
  double apart = 0, way = 0;
  for (std::size_t i = 0; i < full.parameter.size(); ++i) {
    apart += std::pow(static_cast<double>(small.parameter[i]) - full.parameter[i], 2);
    way += std::pow(static_cast<double>(full.parameter[i]), 2);
  }
  INFO("apart " << std::sqrt(apart) << " of " << std::sqrt(way));
  CHECK(apart > 0);
  CHECK(std::sqrt(apart / way) < 0.05);
}
