// Which of the library's algorithms computes a product: it is measured once, and is the same for all that share a
// table.
#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/device.hpp"
#include "kernels/cuda/noise.hpp"
#include "kernels/product_choices.hpp"
#include "kernels/tensor/element.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/cpu/tensors.hpp"
#include "tests/kernels/cuda/bounds.hpp"
#include "tests/kernels/cuda/emulated/cublas.hpp"

using namespace rankscope;
using namespace rankscope::kernels;
using namespace rankscope::kernels::test;

namespace {

constexpr int slow_us = 30'000;

/// Restores the emulated library's default state at the end.
struct Restored {
  ~Restored() {
    emulated::set_algorithms({0, 0});
    emulated::set_cublas(emulated::Cublas::whole);
  }
};

Options options_with(std::shared_ptr<ProductChoices> choices, std::vector<std::string>* lines = nullptr) {
  Options options;
  options.choices = std::move(choices);
  if (lines != nullptr) options.notice = [lines](const std::string& line) { lines->push_back(line); };
  return options;
}

struct Layer {
  SetUnderTest set;
  LinearSpec spec{.type = DType::bf16, .result_type = DType::bf16, .rows = 40, .in = 32, .out = 64, .bias = true};
  Tensor x = random_tensor({40, 32}, DType::bf16, 1), w = random_tensor({64, 32}, DType::bf16, 2);
  Tensor b = random_tensor({64}, DType::bf16, 3), y{{40, 64}, DType::bf16}, before{{40, 64}, DType::bf16};
  explicit Layer(const Options& options) : set(cuda_kernels(options), nullptr, gpu_bound) {}

  /// The algorithm, one of three, that a launch of the layer uses.
  int used_algorithm() {
    const auto op = set.prepare(&KernelSet::linear_forward, spec);
    std::uint64_t before_it[3];
    for (std::size_t i = 0; i < 3; ++i) before_it[i] = emulated::products_by(i);
    set.launch(op, y, x, w, b, View{});
    for (std::size_t i = 0; i < 3; ++i)
      if (emulated::products_by(i) > before_it[i]) return static_cast<int>(i);
    return -1;
  }
};

}  // namespace

TEST_CASE("the fastest algorithm of the library computes a product, whoever prepares it later") {
  const Restored restored;
  emulated::set_algorithms({slow_us, 0, slow_us});
  const auto choices = std::make_shared<ProductChoices>();
  CHECK(Layer(options_with(choices)).used_algorithm() == 1);
  CHECK_THAT(choices->text(),
             ContainsText("1 emulated, cuBLASLt 13.0.2: the product of [40 x 32] and [64 x 32]ᵀ in bf16, "
                          "with bias, to [40 x 64] in bf16, at multiples of 256\n"));
  emulated::set_algorithms({0, slow_us, 0});
  const auto allocations = emulated::counts().allocations;
  CHECK(Layer(options_with(choices)).used_algorithm() == 1);
  CHECK(emulated::counts().allocations == allocations);
}

TEST_CASE("without a table of choices nothing is measured, and the library's first algorithm is used") {
  const Restored restored;
  emulated::set_algorithms({slow_us, 0, slow_us});
  const auto allocations = emulated::counts().allocations;
  CHECK(Layer(Options{}).used_algorithm() == 0);
  CHECK(emulated::counts().allocations == allocations);
}

TEST_CASE("a table that was sent to another process gives the same choices there") {
  const Restored restored;
  emulated::set_algorithms({slow_us, slow_us, 0});
  const auto choices = std::make_shared<ProductChoices>(), received = std::make_shared<ProductChoices>();
  CHECK(Layer(options_with(choices)).used_algorithm() == 2);
  received->add(choices->text());
  CHECK(received->text() == choices->text());
  emulated::set_algorithms({0, slow_us, slow_us});
  CHECK(Layer(options_with(received)).used_algorithm() == 2);
  emulated::set_algorithms({0, 0});  // another version of the library, without a third algorithm
  CHECK(Layer(options_with(received)).used_algorithm() == 0);
}

TEST_CASE("a product and what follows it are separate kernels where those are faster, and the run says so") {
  const Restored restored;
  emulated::set_cublas(emulated::Cublas::slow_epilogues);
  std::vector<std::string> lines;
  Layer layer(options_with(std::make_shared<ProductChoices>(), &lines));
  const auto op = layer.set.prepare(&KernelSet::linear_gelu_forward, layer.spec);
  const auto fused = emulated::products(CUBLASLT_EPILOGUE_GELU_AUX_BIAS);
  layer.set.launch(op, layer.y, layer.before, layer.x, layer.w, layer.b);
  CHECK(emulated::products(CUBLASLT_EPILOGUE_GELU_AUX_BIAS) == fused);
  CHECK(lines ==
        std::vector<std::string>{
            "cuBLASLt is slower than separate kernels, as measured, for the product of [40 x 32] and [64 x 32]ᵀ "
            "in bf16, with bias and GELU, to [40 x 64] in bf16; used instead: the product without GELU, which a "
            "separate kernel computes"});
}

TEST_CASE("a product that is too large to be measured is computed by the first algorithm, and the run says so") {
  std::vector<std::string> lines;
  const auto choices = std::make_shared<ProductChoices>();
  const KernelSet set = cuda_kernels(options_with(choices, &lines));
  set.prepare(&KernelSet::linear_forward,
              LinearSpec{.type = DType::bf16, .result_type = DType::bf16, .rows = 40'000, .in = 64, .out = 20'000});
  CHECK_THAT(choices->text(), ContainsText("0 emulated"));
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], ContainsText("its algorithms were not measured, because there is not the memory"));
}

TEST_CASE("measurements are made on random numbers of every type, between -1 and 1") {
  for (const DType type : {DType::f64, DType::f32, DType::bf16, DType::f16}) {
    INFO(name_of(type));
    constexpr std::int64_t count = 1003;  // not a multiple of a pack
    DeviceStream stream;
    const DeviceMemory memory(count * bytes_of(type));
    cuda::fill_with_noise(memory.data(), type, count, Stream{nullptr, stream.handle()});
    const Tensor here({count}, type);
    stream.copy(here.view().data, memory.data(), count * bytes_of(type));
    stream.synchronise();
    const Values values = here.values();
    double sum = 0;
    for (const double value : values) {
      CHECK(std::abs(value) <= 1);
      sum += value;
    }
    CHECK(std::abs(sum / count) < 0.1);
    CHECK(std::set<double>(values.begin(), values.end()).size() > 100);
  }
}
