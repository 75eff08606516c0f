// The 8-bit optimizer's bytes on a GPU equal the CPU's: a checkpoint of one can continue on the other.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/cpu/cpu.hpp"
#include "kernels/cuda/cuda.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/cpu/tensors.hpp"

using namespace rankscope;
using namespace rankscope::kernels;
using namespace rankscope::kernels::test;

namespace {

struct State {
  Tensor parameter, m, v, m_scale, v_scale;
  explicit State(std::int64_t n, DType type)
      : parameter(random_tensor({n}, type, 1)),
        m({n}, DType::u8),
        v({n}, DType::u8),
        m_scale({blocks(n)}, wide(type), Values(static_cast<std::size_t>(blocks(n)), 0.0)),
        v_scale({blocks(n)}, wide(type), Values(static_cast<std::size_t>(blocks(n)), 0.0)) {
    std::fill_n(m.view().as<std::uint8_t>(), n, std::uint8_t{127});
    std::fill_n(v.view().as<std::uint8_t>(), n, std::uint8_t{0});
  }
  UpdateSpec spec(DType type, const Tensor& gradient) const {
    return {UpdateRule::adam8bit, type, {{parameter, {}, gradient, {m, v, m_scale, v_scale}}}};
  }
  static DType wide(DType type) { return type == DType::f64 ? DType::f64 : DType::f32; }
  static std::int64_t blocks(std::int64_t n) { return (n + quantised_block - 1) / quantised_block; }
};

/// Four steps with gradients over many decades, so that every kind of level occurs.
void train(const SetUnderTest& set, State& state, std::int64_t n, DType type) {
  const DType wide = State::wide(type);
  for (std::uint64_t t = 1; t <= 4; ++t) {
    Values gradient = random_values(n, wide, 10 + t);
    for (std::size_t i = 0; i < gradient.size(); ++i)
      gradient[i] = rounded(gradient[i] * std::pow(10.0, -static_cast<double>((i * 7 + t) % 9)), wide);
    UpdateStep step;
    step.learning_rate = 0.01;
    step.weight_decay = 0.1;
    step.gradient_scale = 0.5;
    step.t = t;
    set.update(state.spec(type, Tensor({n}, wide, gradient)), step);
  }
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return std::memcmp(a.view().data, b.view().data, static_cast<std::size_t>(a.view().bytes())) == 0;
}

}  // namespace

TEST_CASE(
    "quantised moments have the CPU's bytes after steps over eight decades, in whole blocks and in a partial last "
    "one") {
  const DType type = GENERATE(DType::f64, DType::f32);
  const std::int64_t n = GENERATE(1, 300, 2048);
  INFO(name_of(type) << ", " << n << " elements");
  State on_gpu(n, type), on_cpu(n, type);
  train(SetUnderTest(cuda_kernels()), on_gpu, n, type);
  train(SetUnderTest(cpu_kernels()), on_cpu, n, type);
  CHECK(same_bytes(on_gpu.m, on_cpu.m));
  CHECK(same_bytes(on_gpu.v, on_cpu.v));
  CHECK(same_bytes(on_gpu.m_scale, on_cpu.m_scale));
  CHECK(same_bytes(on_gpu.v_scale, on_cpu.v_scale));
  CHECK(same_bytes(on_gpu.parameter, on_cpu.parameter));
  const auto* codes = on_gpu.m.view().as<std::uint8_t>();
  if (n > 256) CHECK(std::any_of(codes, codes + n, [](std::uint8_t c) { return c != 127; }));
}

TEST_CASE(
    "a gradient's factor in memory has the same effect as one passed by value, in the optimizers with their own "
    "launches") {
  const SetUnderTest set(cuda_kernels());
  const double half = 0.5;
  const auto adam8bit = [&](Factor factor) {
    State state(300, DType::f32);
    UpdateStep step;
    step.learning_rate = 0.1;
    step.epsilon = 1e-3;
    step.gradient_scale = factor;
    set.update(state.spec(DType::f32, random_tensor({300}, DType::f32, 2)), step);
    return state.parameter.values();
  };
  const auto adafactor = [&](Factor factor) {
    const Tensor parameter = random_tensor({9, 17}, DType::f32, 1);
    const Tensor row({9}, DType::f32, Values(9, 0.1)), column({17}, DType::f32, Values(17, 0.1));
    const Tensor gradient = random_tensor({9, 17}, DType::f32, 2);
    UpdateStep step;
    step.learning_rate = 0.6;
    step.weight_decay = 0.2;
    step.beta2_decay = 0.7;
    step.epsilon = 1e-2;
    step.epsilon2 = 0.3;
    step.update_clip = 10;
    step.gradient_scale = factor;
    step.t = 4;
    set.update({UpdateRule::adafactor, DType::f32, {{parameter, {}, gradient, {row, column}}}}, step);
    return parameter.values();
  };
  CHECK(difference(adam8bit(0.25), adam8bit(Factor(0.5, &half))) < 1e-6);
  CHECK(difference(adam8bit(0.25), adam8bit(0.5)) > 1e-4);
  CHECK(difference(adafactor(0.25), adafactor(Factor(0.5, &half))) < 1e-6);
  CHECK(difference(adafactor(0.25), adafactor(0.5)) > 1e-4);
}
