// Many tensors in one launch get the bits that each gets alone, on the host's emulation of the GPU.
#include <cstring>
#include <vector>

#include "kernels/cuda/update.cuh"
#include "tests/catch.hpp"
#include "tests/kernels/cpu/tensors.hpp"

using namespace rankscope;
using namespace rankscope::kernels;
using namespace rankscope::kernels::test;

namespace {

/// Parameters of lengths around those of packs and blocks, and one that is empty.
struct Parameters {
  std::vector<Tensor> parameter, gradient, first, second;
  std::vector<cuda::UpdateTensor> tensors;

  Parameters() {
    for (std::int64_t i = 0; i < 2 * cuda::most_tensors + 3; ++i) {
      const std::int64_t n = i == 5 ? 0 : 1 + i * 97 % 5000;
      const auto seed = static_cast<std::uint64_t>(4 * i);
      parameter.push_back(random_tensor({n}, DType::f32, seed));
      gradient.push_back(random_tensor({n}, DType::f32, seed + 1));
      first.push_back(random_tensor({n}, DType::f32, seed + 2));
      second.push_back(Tensor({n}, DType::f32, Values(static_cast<std::size_t>(n), 0.25)));
      tensors.push_back({parameter.back().view().data,
                         nullptr,
                         gradient.back().view().data,
                         {first.back().view().data, second.back().view().data},
                         n,
                         0});
    }
  }
};

bool same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(a[i].view().data, b[i].view().data, static_cast<std::size_t>(a[i].view().bytes())) != 0)
      return false;
  return true;
}

}  // namespace

TEST_CASE("tensors updated in one launch have the bits of tensors updated one by one") {
  const Parameters together, alone;
  const cuda::Adam<float, false> rule(
      numbers_of(AdamStep{.learning_rate = 0.1, .weight_decay = 0.2, .gradient_scale = 0.5, .t = 3}));
  cuda::update_all<float>(together.tensors.data(), static_cast<std::int64_t>(together.tensors.size()), rule, nullptr,
                          Stream{});
  for (const cuda::UpdateTensor& tensor : alone.tensors) cuda::update_all<float>(&tensor, 1, rule, nullptr, Stream{});
  CHECK(same(together.parameter, alone.parameter));
  CHECK(same(together.first, alone.first));
  CHECK(same(together.second, alone.second));
  CHECK_FALSE(same(together.parameter, Parameters().parameter));
  for (const Tensor& parameter : together.parameter) CHECK(parameter.guarded());
}
