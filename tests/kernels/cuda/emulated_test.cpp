// The GPU's kernels without a GPU: every op in every type, its threads run one after the other on the host, against the
// same formulas as the CPU's set, within the same bounds.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/device.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/cpu/checks.hpp"
#include "tests/kernels/cuda/bounds.hpp"
#include "tests/kernels/cuda/emulated/cublas.hpp"
#include "tests/kernels/cuda/emulated/emulator.hpp"

using namespace rankscope;
using namespace rankscope::kernels;
using namespace rankscope::kernels::test;

namespace {

bool is_product(std::string_view op) { return op.starts_with("linear_") || op.starts_with("convolution_"); }

}  // namespace

// In forward order all others are run by kernels_cuda_gpu_emulated, with the library's products.
TEST_CASE(
    "every op of the CUDA set computes what its formula says with its threads in reverse, products in both orders") {
  const auto order = GENERATE(emulated::Order::reverse, emulated::Order::forward);
  emulated::set_order(order);
  emulated::set_cublas(emulated::Cublas::without_algorithms);  // products by our own kernel
  const SetUnderTest set(cuda_kernels(), nullptr, gpu_bound);
  for (const Check& check : all_checks())
    for_each_op([&](std::string_view name, auto member) {
      if (name != check.op) return;
      if (order == emulated::Order::forward && !is_product(name)) return;
      for (DType type : (set.*member).types) {
        INFO(check.op << " in " << name_of(type) << ", threads "
                      << (order == emulated::Order::forward ? "forward" : "in reverse"));
        check.run(set, type);
      }
    });
}

// With them: kernels_cuda_gpu_emulated.
TEST_CASE("products of the library compute what their formula says where it has no epilogues") {
  emulated::set_cublas(emulated::Cublas::without_epilogues);
  const SetUnderTest set(cuda_kernels(), nullptr, gpu_bound);
  for (const Check& check : all_checks())
    for_each_op([&](std::string_view name, auto member) {
      if (name != check.op || !is_product(name)) return;
      for (DType type : (set.*member).types) {
        INFO(check.op << " in " << name_of(type));
        check.run(set, type);
      }
    });
  emulated::set_cublas(emulated::Cublas::whole);
}

namespace {

/// What some work launches: kernels of ours, and products of the library by epilogue.
struct Launches {
  std::uint64_t kernels = emulated::counts().launches;
  std::uint64_t gelu = emulated::products(CUBLASLT_EPILOGUE_GELU_AUX_BIAS);
  std::uint64_t slope = emulated::products(CUBLASLT_EPILOGUE_DGELU);
  std::uint64_t sums = emulated::products(CUBLASLT_EPILOGUE_BGRADB);
  std::uint64_t plain = emulated::products(CUBLASLT_EPILOGUE_DEFAULT);
  std::uint64_t biased = emulated::products(CUBLASLT_EPILOGUE_BIAS);
  bool operator==(const Launches&) const = default;
};

template <class Work>
Launches launches_of(Work work) {
  const Launches before;
  work();
  const Launches after;
  return {after.kernels - before.kernels, after.gelu - before.gelu,   after.slope - before.slope,
          after.sums - before.sums,       after.plain - before.plain, after.biased - before.biased};
}

constexpr Launches launched(std::uint64_t kernels, std::uint64_t gelu, std::uint64_t slope, std::uint64_t sums,
                            std::uint64_t plain, std::uint64_t biased) {
  return {kernels, gelu, slope, sums, plain, biased};
}

/// The three ops whose products have an epilogue, of `rows` times 32 to `out`.
struct Mlp {
  SetUnderTest set;
  LinearSpec spec;
  Tensor x, w, b, y, before, dx, dw, db;
  Mlp(DType type, std::int64_t rows, std::int64_t out, const Options& options = {})
      : set(cuda_kernels(options), nullptr, gpu_bound),
        spec{.type = type, .result_type = type, .rows = rows, .in = 32, .out = out, .bias = true},
        x(random_tensor({rows, 32}, type, 1)),
        w(random_tensor({out, 32}, type, 2)),
        b(random_tensor({out}, type, 3)),
        y({rows, out}, type),
        before(random_tensor({rows, out}, type, 4)),
        dx({rows, 32}, type),
        dw({out, 32}, wide(type)),
        db(random_tensor({out}, wide(type), 5)) {}
  Launches forward() {
    const auto op = set.prepare(&KernelSet::linear_gelu_forward, spec);
    return launches_of([&] { set.launch(op, y, before, x, w, b); });
  }
  /// Of a layer that reads what GELU made of `before`.
  Launches input_gradient() {
    const LinearSpec next{.type = spec.type, .result_type = spec.type, .rows = spec.rows, .in = spec.out, .out = 32};
    const auto op = set.prepare(&KernelSet::linear_gelu_input_gradient, next);
    const Tensor by_input({32, spec.out}, spec.type, random_values(32 * spec.out, spec.type, 6));
    return launches_of([&] { set.launch(op, y, x, by_input, before); });
  }
  Launches weight_gradient(bool accumulate_bias) {
    LinearSpec gradient = spec;
    gradient.result_type = wide(spec.type);
    gradient.accumulate_bias = accumulate_bias;
    const auto op = set.prepare(&KernelSet::linear_weight_gradient, gradient);
    return launches_of([&] { set.launch(op, dw, db, y, x); });
  }
};

}  // namespace

TEST_CASE("GELU, its slope and a bias' gradient are in their products' kernels, where the library has them there") {
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    INFO(name_of(type));
    Mlp mlp(type, 40, 64);
    const bool rough = type == DType::f32;  // the library's GELU is, for that type
    CHECK(mlp.forward() == (rough ? launched(1, 0, 0, 0, 0, 1) : launched(0, 1, 0, 0, 0, 0)));
    CHECK(mlp.input_gradient() == (rough ? launched(1, 0, 0, 0, 1, 0) : launched(0, 0, 1, 0, 0, 0)));
    CHECK(mlp.weight_gradient(false) == launched(0, 0, 0, 1, 0, 0));
    CHECK(mlp.weight_gradient(true) == launched(1, 0, 0, 1, 0, 0));  // the library cannot add: a small sum does
  }
}

TEST_CASE("GELU, its slope and a bias' gradient are kernels of their own where the library has none with them") {
  const auto apart = [](Mlp mlp) {
    CHECK(mlp.forward() == launched(1, 0, 0, 0, 0, 1));
    CHECK(mlp.input_gradient() == launched(1, 0, 0, 0, 1, 0));
    CHECK(mlp.weight_gradient(true) == launched(2, 0, 0, 0, 1, 0));
  };
  SECTION("rows of other lengths than it takes") { apart(Mlp(DType::bf16, 41, 36)); }
  SECTION("an older version") {
    emulated::set_cublas(emulated::Cublas::without_epilogues);
    apart(Mlp(DType::bf16, 40, 64));
  }
  SECTION("it is not asked to") {
    Options options;
    options.fused_gelu = options.fused_bias_gradient = false;
    apart(Mlp(DType::bf16, 40, 64, options));
  }
  SECTION("fp64, whose bias is not in the product either") {
    Mlp mlp(DType::f64, 40, 64);
    CHECK(mlp.forward() == launched(2, 0, 0, 0, 1, 0));
    CHECK(mlp.input_gradient() == launched(1, 0, 0, 0, 1, 0));
    CHECK(mlp.weight_gradient(true) == launched(2, 0, 0, 0, 1, 0));
  }
  SECTION("operands that begin where it cannot read them") {
    Mlp mlp(DType::bf16, 40, 64);
    const auto op = mlp.set.prepare(&KernelSet::linear_gelu_forward, mlp.spec);
    const Tensor wider = random_tensor({40 * 32 + 1}, DType::bf16, 1);
    const View shifted{wider.view().as<std::byte>() + 2, DType::bf16, {40, 32}};
    CHECK(launches_of([&] { mlp.set.launch(op, mlp.y, mlp.before, shifted, mlp.w, mlp.b); }) ==
          launched(1, 0, 0, 0, 0, 1));
  }
  emulated::set_cublas(emulated::Cublas::whole);
}

namespace {

/// What a set tells of products that its library does not compute.
struct Noticed {
  std::vector<std::string> lines;
  Options options() {
    Options o;
    o.notice = [this](const std::string& line) { lines.push_back(line); };
    return o;
  }
};

}  // namespace

TEST_CASE("a product that the library refuses when it runs is computed without its epilogue, and told once") {
  emulated::set_cublas(emulated::Cublas::refusing_epilogues);
  Noticed noticed;
  Mlp mlp(DType::bf16, 40, 64, noticed.options());
  CHECK(mlp.forward() == launched(1, 0, 0, 0, 0, 1));
  CHECK(noticed.lines ==
        std::vector<std::string>{"cuBLASLt refused to run what it chose (CUBLAS_STATUS_NOT_SUPPORTED) for the product "
                                 "of [40 x 32] and [64 x 32]ᵀ in bf16, with bias and GELU, to [40 x 64] in bf16; used "
                                 "instead: the product without GELU, which a separate kernel computes"});
  CHECK(mlp.forward() == launched(1, 0, 0, 0, 0, 1));
  CHECK(noticed.lines.size() == 1);
  CHECK(mlp.weight_gradient(true) == launched(2, 0, 0, 0, 1, 0));
  REQUIRE(noticed.lines.size() == 2);
  CHECK_THAT(noticed.lines[1], ContainsText("the product of [40 x 64]ᵀ and [40 x 32] in bf16, with the bias gradient"));
  emulated::set_cublas(emulated::Cublas::whole);
}

TEST_CASE("a product that the library refuses altogether is computed by our own kernel, which is told, too") {
  emulated::set_cublas(emulated::Cublas::refusing_all);
  Noticed noticed;
  Mlp mlp(DType::bf16, 40, 64, noticed.options());
  CHECK(mlp.forward() == launched(2, 0, 0, 0, 0, 0));
  REQUIRE(noticed.lines.size() == 2);
  CHECK_THAT(noticed.lines[1], ContainsText("with bias, to [40 x 64] in bf16; used instead: the program's own kernel, "
                                            "which is many times slower"));
  emulated::set_cublas(emulated::Cublas::whole);
}

TEST_CASE("a product for which the library finds no algorithm is told once, of all ranks that prepare it") {
  emulated::set_cublas(emulated::Cublas::without_algorithms);
  Noticed noticed;
  const KernelSet set = cuda_kernels(noticed.options());
  const LinearSpec spec{.type = DType::bf16, .result_type = DType::bf16, .rows = 40, .in = 32, .out = 64};
  for (int rank = 0; rank < 2; ++rank) set.prepare(&KernelSet::linear_gelu_forward, spec);
  CHECK(noticed.lines ==
        std::vector<std::string>{
            "cuBLASLt has no algorithm for the product of [40 x 32] and [64 x 32]ᵀ in bf16, to [40 x 64] in bf16; used "
            "instead: the program's own kernel, which is many times slower",
            "cuBLASLt has no algorithm for the product of [40 x 32] and [64 x 32]ᵀ in bf16, with GELU, to [40 x 64] in "
            "bf16; used instead: the product without GELU, which a separate kernel computes"});
  emulated::set_cublas(emulated::Cublas::whole);
}

TEST_CASE("products that a set does not ask the library for are no refusals") {
  Noticed noticed;
  Options options = noticed.options();
  options.fused_gelu = options.fused_bias_gradient = false;
  Mlp mlp(DType::bf16, 40, 64, options);
  mlp.forward();
  mlp.weight_gradient(true);
  Mlp rough(DType::f32, 40, 64, noticed.options());
  rough.forward();
  CHECK(noticed.lines.empty());
}

TEST_CASE("attention in 16 bits is on tensor cores unless that is switched off, and then computes the same") {
  const AttentionSpec spec{DType::bf16, 1, 24, 2, 32};
  const Tensor qkv = random_tensor({24, 96}, DType::bf16, 1), dattended = random_tensor({24, 32}, DType::bf16, 2);
  std::vector<std::uint64_t> barriers;
  std::vector<Values> results;
  for (const bool fused : {true, false}) {
    Options options;
    options.fused_attention = fused;
    const SetUnderTest set(cuda_kernels(options), nullptr, gpu_bound);
    const Tensor attended({24, 32}, DType::bf16), log_sum_exp({2, 24}, DType::f32), dqkv({24, 96}, DType::bf16);
    const std::uint64_t before = emulated::arrivals();
    set.launch(set.prepare(&KernelSet::attention_forward, spec), attended, log_sum_exp, qkv);
    set.launch(set.prepare(&KernelSet::attention_backward, spec), dqkv, dattended, qkv, log_sum_exp, attended);
    barriers.push_back(emulated::arrivals() - before);
    for (const Tensor* result : {&attended, &dqkv}) results.push_back(result->values());
  }
  CHECK(barriers[0] != barriers[1]);  // other kernels
  CHECK(difference(results[2], results[0]) < gpu_bound(DType::bf16, DType::bf16));
  CHECK(difference(results[3], results[1]) < gpu_bound(DType::bf16, DType::bf16));
}

TEST_CASE("a set is of the device that is the thread's when it is made, whatever others there are") {
  emulated::set_model(1, {.major = 8});
  use_cuda_device(1);
  CHECK_FALSE(cuda_kernels().options.fused_gelu);
  use_cuda_device(0);
  CHECK(cuda_kernels().options.fused_gelu);
  emulated::set_model(1, {});
}

TEST_CASE(
    "attention whose blocks want more shared memory than the device has is refused by name, before it is launched") {
  const KernelSet set = cuda_kernels();
  emulated::set_model(0, {.major = 8, .minor = 9, .shared_bytes = 99 << 10});
  for (const DType type : {DType::f64, DType::f32, DType::bf16, DType::f16})
    for (const std::int64_t depth : {64, 128}) {
      INFO(name_of(type) << ", heads of " << depth);
      const AttentionSpec spec{type, 1, 4, 1, depth};
      if (type == DType::f64 && depth == 128)
        CHECK_THROWS_WITH(set.prepare(&KernelSet::attention_backward, spec),
                          "the kernel set 'cuda' has no attention in fp64 with heads of 128 on this GPU: a block wants "
                          "148992 bytes of shared memory, and has at most 101376");
      else
        CHECK_NOTHROW(set.prepare(&KernelSet::attention_backward, spec));
    }
  CHECK_THROWS_AS(set.prepare(&KernelSet::attention_backward, AttentionSpec{DType::f64, 1, 4, 1, 128}), Unsupported);
  emulated::set_model(0, {});
}

TEST_CASE("memory that is nowhere is given back to nobody: that would make a context on a device that nobody chose") {
  const auto before = emulated::counts().frees_of_nothing;
  {
    DeviceMemory memory(100), taken = std::move(memory);
    const DeviceMemory none, empty(0);
    CHECK(taken.bytes() == 100);
  }
  CHECK(emulated::counts().frees_of_nothing == before);
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
}
