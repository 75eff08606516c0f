// Every op of the CPU set in every type, on every instruction set of this machine, compared with simple double loops.
//
// To add an op: write check_<op> (checks.hpp) and add a row to checks.cpp. The first test fails without a row.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/cpu/cpu.hpp"
#include "kernels/cpu/matrix_product.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/cpu/checks.hpp"
#include "tests/kernels/cpu/threads.hpp"

using namespace rankscope;
using namespace rankscope::kernels;
using namespace rankscope::kernels::test;

TEST_CASE("every op of the table has a check, and every check's types are the set's") {
  const KernelSet set = cpu_kernels();
  std::vector<std::string> named;
  for_each_op([&](std::string_view name, auto member) {
    named.emplace_back(name);
    INFO(name);
    const auto& checks = all_checks();
    const auto check = std::find_if(checks.begin(), checks.end(), [&](const Check& c) { return c.op == name; });
    REQUIRE(check != checks.end());
    CHECK((set.*member).make != nullptr);
    CHECK((set.*member).types == check->types);
  });
  CHECK(named.size() == all_checks().size());
}

TEST_CASE("every op computes what its formula says, in every type, on every instruction set, and on one thread") {
  const auto instruction_set = GENERATE(from_range(cpu_instruction_sets()));
  // One thread takes the same path on every instruction set; engine_layers tests that both give the same bits.
  const bool alone = GENERATE(false, true);
  if (alone && instruction_set != cpu_instruction_sets().front()) return;
  const int threads = alone ? 1 : most_threads;
  Options options;
  options.threads = threads;
  options.instruction_set = std::string(instruction_set);
  const SetUnderTest set(cpu_kernels(options));
  for (const Check& check : all_checks())
    for (DType type : check.types) {
      INFO(check.op << " in " << name_of(type) << " on " << instruction_set << " with " << threads << " threads");
      check.run(set, type);
    }
}

TEST_CASE("a kernel set refuses by name what it does not have") {
  KernelSet set = cpu_kernels();
  CHECK_THROWS_WITH(set.prepare(&KernelSet::add, ElementwiseSpec{DType::i32, 1, 1}),
                    "the kernel set 'cpu' has no add in i32; it has fp64 fp32 bf16 fp16");
  set.add = {};
  set.name = "empty";
  CHECK_THROWS_WITH(set.prepare(&KernelSet::add, ElementwiseSpec{DType::f32, 1, 1}),
                    "the kernel set 'empty' has no add in fp32; it has none");
  CHECK_THROWS_AS(set.prepare(&KernelSet::attention_forward, AttentionSpec{DType::f32, 1, 4, 3, 8}), Unsupported);
  CHECK_THROWS_AS(set.prepare(&KernelSet::dropout, DropoutSpec{DType::f32, 1, 4, 1.0}), Unsupported);
  Options options;
  options.instruction_set = "x86-64-v9";
  CHECK_THROWS_WITH(cpu_kernels(options), "this machine has no instruction set 'x86-64-v9'");
}

TEST_CASE("if the CPU cannot multiply bf16, products are widened, which the other tests then cover") {
  if (std::getenv("RANKSCOPE_EXPECT_WIDENED_BF16") != nullptr)
    CHECK_FALSE(cpu::native_bf16_products());
  else
    CHECK(cpu::native_bf16_products() == (cpu_instruction_sets().front() == "x86-64-v4"));
}
