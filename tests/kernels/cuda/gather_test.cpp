// Gradients of token matrices: the order in which rows of one token are added is part of the result, so the bits are
// compared with simple loops in that order.
#include <map>
#include <vector>

#include "kernels/cuda/cuda.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/cpu/tensors.hpp"
#include "tests/kernels/cuda/bounds.hpp"
#include "tests/kernels/cuda/emulated/emulator.hpp"

using namespace rankscope;
using namespace rankscope::kernels;
using namespace rankscope::kernels::test;

namespace {

constexpr int warps = 32, run_of_rows = 32, longest_walk = 32;

struct Words {
  std::int64_t first = 0, vocabulary = 0;
  std::vector<std::int32_t> tokens;
};

/// The gradient of the token matrix, bit for bit: rows of a rare word are added one after another; those of a common
/// word in 32 parts, counted in runs of 32 rows from its first row.
std::vector<float> expected(const Words& words, std::int64_t width, std::vector<float> gradient,
                            const std::vector<float>& dy) {
  std::map<std::int64_t, std::vector<std::int64_t>> rows;
  for (std::size_t r = 0; r < words.tokens.size(); ++r)
    if (const std::int64_t word = words.tokens[r] - words.first; word >= 0 && word < words.vocabulary)
      rows[word].push_back(static_cast<std::int64_t>(r));
  for (const auto& [word, of_word] : rows)
    for (std::int64_t j = 0; j < width; ++j) {
      float& into = gradient[static_cast<std::size_t>(word * width + j)];
      const auto term = [&](std::int64_t row) { return dy[static_cast<std::size_t>(row * width + j)]; };
      if (of_word.size() <= longest_walk) {
        for (const std::int64_t row : of_word) into += term(row);
        continue;
      }
      float parts[warps] = {};
      for (const std::int64_t row : of_word) parts[(row - of_word.front()) / run_of_rows % warps] += term(row);
      float sum = 0;
      for (const float part : parts) sum += part;
      into += sum;
    }
  return gradient;
}

std::vector<float> floats_of(const Tensor& tensor) {
  const Values values = tensor.values();
  return {values.begin(), values.end()};
}

/// Every fifth word is the same; others are rare, and some belong to another rank's matrix.
Words mixed_words(std::int64_t vocabulary, std::int32_t rows) {
  Words words{100, vocabulary, {}};
  for (std::int64_t i = 0; i < rows; ++i)
    words.tokens.push_back(static_cast<std::int32_t>(i % 5 == 0 ? 103 : i * 7919 % (vocabulary + 200)));
  return words;
}

}  // namespace

TEST_CASE("a token's gradient has the bits of its rows added in their order, whatever the vocabulary's size") {
  const auto order = GENERATE(emulated::Order::forward, emulated::Order::reverse);
  emulated::set_order(order);
  const SetUnderTest set(cuda_kernels(), nullptr, gpu_bound);
  for (const std::int64_t vocabulary : {1, 255, 256, 70000})
    for (const std::int64_t width : {5, 8})
      for (const bool accumulate : {false, true}) {
        INFO("vocabulary " << vocabulary << ", width " << width << ", accumulate " << accumulate << ", threads "
                           << (order == emulated::Order::forward ? "forward" : "in reverse"));
        const Words words = mixed_words(vocabulary, 2100);
        const auto rows = static_cast<std::int64_t>(words.tokens.size());
        const Tensor dwte = random_tensor({vocabulary, width}, DType::f32, 1);
        const Tensor dy = random_tensor({rows, width}, DType::f32, 2);
        std::vector<float> before = floats_of(dwte);
        if (!accumulate) before.assign(before.size(), 0);
        set.launch(set.prepare(&KernelSet::token_embedding_backward,
                               TokenEmbeddingSpec{DType::f32, rows, vocabulary, width, accumulate}),
                   dwte, dy, integers(words.tokens), words.first);
        CHECK(floats_of(dwte) == expected(words, width, before, floats_of(dy)));
        CHECK(dwte.guarded());
      }
  emulated::set_order(emulated::Order::forward);
}

TEST_CASE("the work for a token matrix' gradient grows as its rows do, and not as their square") {
  const SetUnderTest set(cuda_kernels(), nullptr, gpu_bound);
  const auto work = [&](std::int32_t rows) {
    std::vector<std::int32_t> tokens;
    for (std::int64_t i = 0; i < rows; ++i) tokens.push_back(static_cast<std::int32_t>(i * 7919 % (rows / 4)));
    const std::int64_t vocabulary = 10000, width = 4;
    const Tensor dwte({vocabulary, width}, DType::f32);
    const Tensor dy = random_tensor({rows, width}, DType::f32, 2);
    const std::uint64_t before = emulated::arrivals();
    set.launch(
        set.prepare(&KernelSet::token_embedding_backward, TokenEmbeddingSpec{DType::f32, rows, vocabulary, width}),
        dwte, dy, integers(tokens), std::int64_t{0});
    return static_cast<double>(emulated::arrivals() - before);
  };
  CHECK(work(16384) < 4.5 * work(4096));
}
