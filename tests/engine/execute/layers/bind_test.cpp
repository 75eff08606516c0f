// Binding: the operands that it refuses, its workspace, and initial weights.
#include <bit>
#include <cmath>

#include "engine/execute/layers/bind.hpp"
#include "engine/execute/layers/initialise.hpp"
#include "kernels/cpu/cpu.hpp"
#include "kernels/tensor/alignment.hpp"
#include "kernels/tensor/random.hpp"
#include "tests/catch.hpp"
#include "tests/engine/execute/layers/hand_laid.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

Model small_model(const char* precision) {
  Scenario scenario;
  scenario.model = {
      .kind = "gpt", .layers = 1, .width = 8, .heads = 2, .context = 4, .vocabulary = 5, .tied = true, .dropout = 0};
  scenario.train.global_batch = 1;
  scenario.plan.precision = precision;
  return make_model(scenario);
}

}  // namespace

TEST_CASE("an operand that does not fit is refused with its place, what it should be and what it is") {
  const Model model = small_model("fp32");
  const SegmentSpec& embedding = model.segments.front();
  std::int32_t tokens[4];
  float floats[40];
  Workspace workspace;
  const View ids{tokens, DType::i32, {4}}, wte{floats, DType::f32, {5, 8}}, wpe{floats, DType::f32, {4, 8}};
  const auto bind = [&](std::vector<View> operands) {
    return bind_forward(model, embedding, operands, kernels::cpu_kernels(), workspace);
  };
  CHECK_NOTHROW(bind({ids, wte, wpe, wpe}));
  CHECK_THROWS_WITH(bind({ids, wte, wpe}), ContainsText("forward of embedding: operand 3, output, is missing"));
  CHECK_THROWS_WITH(bind({ids, wpe, wpe, wpe}),
                    ContainsText("operand 1, wte.weight, should be fp32 [5, 8] and is fp32 [4, 8]"));
  CHECK_THROWS_WITH(bind({ids, wte, wpe, {floats, DType::f64, {4, 8}}}),
                    ContainsText("should be fp32 [4, 8] and is fp64"));
  CHECK_THROWS_WITH(bind({ids, wte, wpe, wpe, wpe}), ContainsText("takes 4 operands and was given 5"));
  CHECK_THROWS_WITH(bind({{nullptr, DType::i32, {4}}, wte, wpe, wpe}), ContainsText("tokens, has no memory"));
  const IntoGradient one[] = {IntoGradient::write};
  CHECK_THROWS_WITH(bind_backward(model, embedding, {}, one, kernels::cpu_kernels(), workspace),
                    ContainsText("has 2 parameters, and it is stated for 1"));
}

TEST_CASE("a type that the kernel set lacks is refused by name when binding") {
  kernels::KernelSet kernels = kernels::cpu_kernels();
  kernels.linear_gelu_forward.types = {DType::f32};
  CHECK_THROWS_WITH(HandLaid(small_model("bf16"), kernels, 1, false), ContainsText("no linear_gelu_forward in bf16"));
}

TEST_CASE("a segment that no model has is refused") {
  const Model model = small_model("fp32");
  SegmentSpec segment;
  segment.kind = Segment::update;
  Workspace workspace;
  CHECK_THROWS_WITH(bind_forward(model, segment, {}, kernels::cpu_kernels(), workspace),
                    ContainsText("there is no forward of update"));
  // Some segments have only one half of a backward.
  CHECK_THROWS_WITH(bind_input_gradient(model, model.segments[0], {}, {}, kernels::cpu_kernels(), workspace),
                    ContainsText("there is no input gradient of embedding"));
  CHECK_THROWS_WITH(bind_weight_gradient(model, model.segments[2], {}, {}, kernels::cpu_kernels(), workspace),
                    ContainsText("there is no weight gradient of b0.attention"));
}

TEST_CASE("a workspace has the greatest required size, and the alignment of tensors") {
  Workspace workspace;
  workspace.require(100);
  workspace.require(7);
  CHECK(workspace.bytes() == 100);
  workspace.reserve();
  CHECK(reinterpret_cast<std::uintptr_t>(workspace.data()) % tensor_alignment == 0);
}

TEST_CASE("initial weights are drawn by global position: a shard equals its slice of the whole") {
  ParameterSpec spec{
      .name = "w", .shape = {6, 10}, .whole = {6, 10}, .init = Init::normal, .std_dev = 0.02, .global_offset = 12345};
  std::vector<double> whole(60), shard(20);
  initialise({whole.data(), DType::f64, {6, 10}}, spec, 7);
  initialise({shard.data(), DType::f64, {20}}, spec, 7, 30);
  for (std::size_t i = 0; i < 20; ++i) CHECK(shard[i] == whole[30 + i]);

  ParameterSpec later = spec;
  later.global_offset += 10;
  initialise({shard.data(), DType::f64, {20}}, later, 7);
  for (std::size_t i = 0; i < 20; ++i) CHECK(shard[i] == whole[10 + i]);
  initialise({shard.data(), DType::f64, {20}}, spec, 8);
  CHECK(shard[0] != whole[0]);
}

TEST_CASE("initial weights are the normals of their positions, wherever threads and a rank's share begin") {
  // Each of 3 ranks has columns [5·tensor, 5·(tensor + 1)): odd runs of elements, enough for several threads.
  const std::int64_t rows = 200'003, columns = 5, whole_columns = 15;
  const ParameterSpec spec{.name = "w",
                           .shape = {rows, columns},
                           .whole = {rows, whole_columns},
                           .split = {.axis = 1},
                           .init = Init::normal,
                           .std_dev = 0.02,
                           .global_offset = 77};
  const int tensor = GENERATE(0, 1, 2);
  const std::int64_t first = GENERATE(0, 3), count = rows * columns - first;
  std::vector<double> drawn(static_cast<std::size_t>(count));
  initialise({drawn.data(), DType::f64, {count}}, spec, 7, first, tensor);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = (first + i) / columns, column = tensor * columns + (first + i) % columns;
    const auto index = static_cast<std::uint64_t>(77 + row * whole_columns + column);
    wrong += drawn[static_cast<std::size_t>(i)] != 0.02 * normal(7, random_stream(RandomPurpose::weights), index);
  }
  CHECK(wrong == 0);
}

TEST_CASE("initial weights have the right deviation, and in every type are the same number rounded") {
  const std::int64_t n = 40000;
  const ParameterSpec spec{.name = "w", .shape = {n}, .whole = {n}, .init = Init::normal, .std_dev = 0.02};
  std::vector<double> exact(n);
  std::vector<float> single(n);
  std::vector<std::uint16_t> half(n);
  initialise({exact.data(), DType::f64, {n}}, spec, 7);
  initialise({single.data(), DType::f32, {n}}, spec, 7);
  initialise({half.data(), DType::bf16, {n}}, spec, 7);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    sum += exact[i], squares += exact[i] * exact[i];
    REQUIRE(single[i] == static_cast<float>(exact[i]));
    const float widened = std::bit_cast<float>(std::uint32_t{half[i]} << 16);
    REQUIRE(std::abs(widened - single[i]) <= std::abs(single[i]) * 0x1p-8f);
  }
  // The mean of n normals deviates by 0.02/sqrt(n), their deviation by 0.02/sqrt(2n): five times that.
  CHECK(std::abs(sum / n) < 5 * 0.02 / std::sqrt(n));
  CHECK(std::abs(std::sqrt(squares / n) - 0.02) < 5 * 0.02 / std::sqrt(2.0 * n));
  const ParameterSpec ones{.name = "g", .shape = {n}, .whole = {n}, .init = Init::ones};
  initialise({half.data(), DType::bf16, {n}}, ones, 7);
  CHECK(half[n - 1] == 0x3F80);
}
