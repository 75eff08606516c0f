// Attention by a library, and by the set's own kernels if the library does not support it.
#include <algorithm>
#include <string>
#include <vector>

#include "kernels/cuda/cuda.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/cpu/checks.hpp"
#include "tests/kernels/cuda/bounds.hpp"
#include "tests/kernels/cuda/emulated/attention_library.hpp"

using namespace rankscope;
using namespace rankscope::kernels;
using namespace rankscope::kernels::test;

namespace {

/// A kernel set created with this state of the emulated library, which is reset at the end.
struct WithLibrary {
  explicit WithLibrary(emulated::Cudnn has, Options options = {})
      : set(made(has, std::move(options)), nullptr, gpu_bound) {}
  ~WithLibrary() { emulated::set_cudnn(emulated::Cudnn::absent); }
  KernelSet made(emulated::Cudnn has, Options options) {
    emulated::set_cudnn(has);
    options.notice = [this](const std::string& line) { lines.push_back(line); };
    return cuda_kernels(std::move(options));
  }
  std::vector<std::string> lines;
  SetUnderTest set;
};

template <class Work>
std::uint64_t passes_of(Work work) {
  const std::uint64_t before = emulated::attention_passes();
  work();
  return emulated::attention_passes() - before;
}

/// Launches forward and backward for several shapes, and compares them with the formula.
void attend(const SetUnderTest& set, DType type) {
  check_attention_forward(set, type);
  check_attention_backward(set, type);
}

}  // namespace

TEST_CASE("the library computes attention in 16 bits, and a set says so") {
  const DType type = GENERATE(DType::bf16, DType::f16);
  WithLibrary with(emulated::Cudnn::whole);
  CHECK(with.set.options.library_attention);
  CHECK(cuda_libraries(with.set) == "cuBLASLt 13.0.2 (emulated), cuDNN 9.19.0 (emulated)");
  CHECK(passes_of([&] { attend(with.set, type); }) > 0);
  CHECK(with.lines.empty());
}

TEST_CASE("other types, and sets without the library, have the set's own kernels") {
  WithLibrary with(emulated::Cudnn::whole);
  CHECK(passes_of([&] { check_attention_forward(with.set, DType::f32); }) == 0);
  Options options;
  SECTION("cuDNN is switched off") { options.library_attention = false; }
  SECTION("tensor cores are switched off") { options.fused_attention = false; }
  WithLibrary without(emulated::Cudnn::whole, options);
  CHECK_FALSE(without.set.options.library_attention);
  CHECK(passes_of([&] { check_attention_forward(without.set, DType::bf16); }) == 0);
  WithLibrary absent(emulated::Cudnn::absent);
  CHECK_FALSE(absent.set.options.library_attention);
  CHECK(cuda_libraries(absent.set) == "cuBLASLt 13.0.2 (emulated)");
  CHECK(absent.lines.empty());
}

TEST_CASE(
    "attention that the library does not compute is computed by the set's own kernels, and told once for each shape") {
  const auto has = GENERATE(emulated::Cudnn::without_kernels, emulated::Cudnn::refusing);
  WithLibrary with(has);
  const AttentionSpec spec{DType::bf16, 2, 9, 2, 32};
  const Tensor qkv = random_tensor({18, 96}, DType::bf16, 1);
  std::vector<Values> results;
  for (int time = 0; time < 2; ++time) {
    const Tensor attended({18, 32}, DType::bf16), statistics({2, 2, 9}, DType::f32);
    with.set.launch(with.set.prepare(&KernelSet::attention_forward, spec), attended, statistics, qkv);
    results.push_back(attended.values());
  }
  CHECK(results[0] == results[1]);
  const std::string what = "attention of 2 samples of 9 tokens in bf16, with 2 heads of 16, forward";
  CHECK(with.lines ==
        std::vector<std::string>{
            has == emulated::Cudnn::refusing
                ? "cuDNN refused to run its kernel for " + what + "; used instead: the program's own kernel"
                : "cuDNN has no kernel for " + what + " (no engine); used instead: the program's own kernel"});
  CHECK(passes_of([&] { attend(with.set, DType::bf16); }) == 0);
}

TEST_CASE("attention of operands that the library cannot read is computed by the set's own kernels") {
  WithLibrary with(emulated::Cudnn::whole);
  const AttentionSpec spec{DType::bf16, 1, 9, 2, 32};
  const Tensor wider = random_tensor({9 * 96 + 1}, DType::bf16, 1);
  const View shifted{wider.view().as<std::byte>() + 2, DType::bf16, {9, 96}};
  const Tensor attended({9, 32}, DType::bf16), statistics({1, 2, 9}, DType::f32);
  const auto op = with.set.prepare(&KernelSet::attention_forward, spec);
  CHECK(passes_of([&] { with.set.launch(op, attended, statistics, shifted); }) == 0);
  const Values values = attended.values();
  CHECK(std::none_of(values.begin(), values.end(), [](double v) { return v != v; }));
}
