// Every op of the CPU set in every type, on every instruction set of this machine, against plain double loops.
//
// To add an op: write check_<op> (checks.hpp) and give it a row here. The first test fails until there is one.
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

namespace {

struct Row {
  std::string op;
  void (*check)(const KernelSet&, DType);
  std::vector<DType> types;
};

const std::vector<DType> all{DType::f64, DType::f32, DType::bf16, DType::f16};

const std::vector<Row> rows{
    {"linear_forward", check_linear_forward, all},
    {"linear_input_gradient", check_linear_input_gradient, all},
    {"linear_weight_gradient", check_linear_weight_gradient, all},
    {"bias_gradient", check_bias_gradient, all},
    {"norm_forward", check_norm_forward, all},
    {"norm_backward", check_norm_backward, all},
    {"gelu_forward", check_gelu_forward, all},
    {"gelu_backward", check_gelu_backward, all},
    {"attention_forward", check_attention_forward, all},
    {"attention_backward", check_attention_backward, all},
    {"cross_entropy", check_cross_entropy, all},
    {"embedding_forward", check_embedding_forward, all},
    {"embedding_backward", check_embedding_backward, all},
    {"dropout", check_dropout, all},
    {"residual_sum", check_residual_sum, all},
    {"token_embedding_forward", check_token_embedding_forward, all},
    {"token_embedding_backward", check_token_embedding_backward, all},
    {"position_embedding_forward", check_position_embedding_forward, all},
    {"position_embedding_backward", check_position_embedding_backward, all},
    {"vocabulary_numerators", check_vocabulary_numerators, all},
    {"vocabulary_loss", check_vocabulary_loss, all},
    {"add", check_add, all},
    {"scale", check_scale, all},
    {"square_norm", check_square_norm, all},
    {"sgd_update", check_sgd_update, all},
    {"momentum_update", check_momentum_update, all},
    {"adagrad_update", check_adagrad_update, all},
    {"adam_update", check_adam_update, all},
    {"adamw_update", check_adamw_update, all},
    {"radam_update", check_radam_update, all},
    {"adam8bit_update", check_adam8bit_update, all},
    {"sophia_update", check_sophia_update, all},
    {"adafactor_update", check_adafactor_update, all},
};

}  // namespace

TEST_CASE("every op of the table has a row here, and every row's types are the set's") {
  const KernelSet set = cpu_kernels();
  std::vector<std::string> named;
  for_each_op([&](std::string_view name, auto member) {
    named.emplace_back(name);
    INFO(name);
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.op == name; });
    REQUIRE(row != rows.end());
    CHECK((set.*member).make != nullptr);
    CHECK((set.*member).types == row->types);
  });
  CHECK(named.size() == rows.size());
}

TEST_CASE("every op computes what its formula says, in every type, on every instruction set, on one and two threads") {
  const auto instruction_set = GENERATE(from_range(cpu_instruction_sets()));
  const int threads = GENERATE(range(1, most_threads + 1));
  Options options;
  options.threads = threads;
  options.instruction_set = std::string(instruction_set);
  const KernelSet set = cpu_kernels(options);
  for (const Row& row : rows)
    for (DType type : row.types) {
      INFO(row.op << " in " << name_of(type) << " on " << instruction_set << " with " << threads << " threads");
      row.check(set, type);
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

TEST_CASE("where the CPU cannot multiply bf16, products are widened, which the other tests then cover") {
  if (std::getenv("RANKSCOPE_EXPECT_WIDENED_BF16") != nullptr)
    CHECK_FALSE(cpu::native_bf16_products());
  else
    CHECK(cpu::native_bf16_products() == (cpu_instruction_sets().front() == "x86-64-v4"));
}
