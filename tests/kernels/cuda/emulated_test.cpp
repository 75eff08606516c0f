// The GPU's kernels without a GPU: every op in every type, its threads run one after the other on the host, against the
// same formulas as the CPU's set, within the same bounds.
#include <algorithm>
#include <string>
#include <vector>

#include "kernels/cuda/cuda.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/cpu/checks.hpp"
#include "tests/kernels/cuda/bounds.hpp"
#include "tests/kernels/cuda/emulated/emulator.hpp"

using namespace rankscope;
using namespace rankscope::kernels;
using namespace rankscope::kernels::test;

TEST_CASE("every op of the CUDA set computes what its formula says, in whatever order its threads run") {
  const auto order = GENERATE(emulated::Order::forward, emulated::Order::reverse);
  emulated::set_order(order);
  const SetUnderTest set(cuda_kernels(), nullptr, gpu_bound);
  for (const Check& check : all_checks())
    for_each_op([&](std::string_view name, auto member) {
      if (name != check.op) return;
      for (DType type : (set.*member).types) {
        INFO(check.op << " in " << name_of(type) << ", threads "
                      << (order == emulated::Order::forward ? "forward" : "in reverse"));
        check.run(set, type);
      }
    });
}

TEST_CASE("the CUDA set has every op of the table in all four types") {
  const KernelSet set = cuda_kernels();
  for_each_op([&](std::string_view name, auto member) {
    INFO(name);
    CHECK((set.*member).make != nullptr);
    CHECK((set.*member).types == std::vector<DType>{DType::f64, DType::f32, DType::bf16, DType::f16});
  });
  CHECK_THROWS_WITH(set.prepare(&KernelSet::attention_forward, AttentionSpec{DType::f32, 1, 4, 1, 136}),
                    "the kernel set 'cuda' has no attention with heads of 136; it has up to 128");
  CHECK_THROWS_AS(set.prepare(&KernelSet::dropout, DropoutSpec{DType::f32, 1, 4, 1.0}), Unsupported);
  CHECK_THROWS_AS(set.prepare(&KernelSet::adafactor_update, AdafactorSpec{DType::f32, 2, 4, false, false}),
                  Unsupported);
}
