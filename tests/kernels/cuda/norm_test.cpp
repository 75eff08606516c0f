// The gradients of a layer norm: one pass if a block of threads holds a row, otherwise two.
#include "kernels/cuda/cuda.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/cpu/checks.hpp"
#include "tests/kernels/cuda/bounds.hpp"
#include "tests/kernels/cuda/emulated/emulator.hpp"
#include "tests/kernels/cuda/emulated/runtime.hpp"

using namespace rankscope;
using namespace rankscope::kernels;
using namespace rankscope::kernels::test;

namespace {

/// Number of kernels that a backward launches for rows of that width. Its results are written over dy, which is
/// allowed.
std::uint64_t kernels_of(DType type, std::int64_t width, const Options& options = {}) {
  const SetUnderTest set(cuda_kernels(options), nullptr, gpu_bound);
  const NormSpec spec{.type = type, .rows = 3, .width = width};
  const Tensor dy = random_tensor({3, width}, type, 1), x = random_tensor({3, width}, type, 2);
  const Tensor weight = random_tensor({width}, type, 3), mean({3}, DType::f32, {0, 0.1, 0.2}),
               rstd({3}, DType::f32, {1, 2, 3});
  const Tensor dweight({width}, DType::f32), dbias({width}, DType::f32);
  const auto op = set.prepare(&KernelSet::norm_backward, spec);
  const auto before = emulated::counts().launches;
  set.launch(op, dy, dweight, dbias, dy, x, mean, rstd, weight, View{});
  return emulated::counts().launches - before;
}

}  // namespace

TEST_CASE("the gradients of a layer norm are one pass and a small sum, for rows of up to 512 packs") {
  CHECK(kernels_of(DType::bf16, 4096) == 2);
  CHECK(kernels_of(DType::bf16, 4104) == 3);
  CHECK(kernels_of(DType::f32, 2048) == 2);
  CHECK(kernels_of(DType::f32, 2052) == 3);
  CHECK(kernels_of(DType::bf16, 511) == 2);  // rows that are not multiples of a pack: element by element
  CHECK(kernels_of(DType::bf16, 513) == 3);
  Options options;
  options.fused_norm = false;
  CHECK(kernels_of(DType::bf16, 64, options) == 3);
}

TEST_CASE("the gradients of a layer norm are what their formulas say where they are separate kernels, too") {
  const auto order = GENERATE(emulated::Order::forward, emulated::Order::reverse);
  emulated::set_order(order);
  Options options;
  options.fused_norm = false;
  const SetUnderTest set(cuda_kernels(options), nullptr, gpu_bound);
  for (const DType type : {DType::f64, DType::f32, DType::bf16, DType::f16}) {
    INFO(name_of(type));
    check_norm_backward(set, type);
  }
  emulated::set_order(emulated::Order::forward);
}
