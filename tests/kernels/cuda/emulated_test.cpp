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
TEST_CASE("products of the library compute their formula if it has no epilogues") {
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

TEST_CASE("GELU, its slope and a bias' gradient are in the products' kernels if the library has such epilogues") {
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

TEST_CASE("GELU, its slope and a bias' gradient are separate kernels if the library has no such epilogues") {
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

TEST_CASE("a kernel set belongs to the device that is current when it is made") {
  emulated::set_model(1, {.major = 8});
  use_cuda_device(1);
  CHECK_FALSE(cuda_kernels().options.fused_gelu);
  use_cuda_device(0);
  CHECK(cuda_kernels().options.fused_gelu);
  emulated::set_model(1, {});
}

TEST_CASE(
    "attention whose blocks need more shared memory than the device has is refused by name, before it is launched") {
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

TEST_CASE("freeing a null pointer does nothing: it would make a context on another device") {
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
