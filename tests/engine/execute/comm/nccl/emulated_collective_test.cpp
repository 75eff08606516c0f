// The emulated NCCL reduces as it is asked to, and in the elements' own type.
#include "tests/engine/execute/comm/nccl/emulated_collective.hpp"

#include <cmath>

#include "kernels/tensor/element.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using emulated_nccl::Collective;

namespace {

constexpr int f16 = 6, f32 = 7, i32 = 2;
constexpr int sum = 0, maximum = 2, mean = 4;

/// An all-reduce of one element of each member.
double all_reduced(int type, DType dtype, int reduction, const std::vector<double>& given) {
  std::vector<std::uint64_t> memory(given.size());
  std::vector<const void*> inputs;
  for (std::size_t m = 0; m < given.size(); ++m) {
    set_element(View{&memory[m], dtype, {1}}, 0, given[m]);
    inputs.push_back(&memory[m]);
  }
  std::uint64_t result = 0;
  Collective call{"all_reduce", 1, type, reduction, -1, inputs[0], &result};
  perform(call, inputs, 0);
  return element(View{&result, dtype, {1}}, 0);
}

}  // namespace

TEST_CASE("the emulated NCCL distinguishes a sum from a mean") {
  CHECK(all_reduced(f32, DType::f32, sum, {1, 2, 6}) == 9);
  CHECK(all_reduced(f32, DType::f32, mean, {1, 2, 6}) == 3);
  CHECK(all_reduced(f32, DType::f32, maximum, {1, 6, 2}) == 6);
}

TEST_CASE("a partial sum in fp16 overflows where the whole sum would not, as NCCL's does") {
  CHECK(std::isinf(all_reduced(f16, DType::f16, sum, {60000, 60000, -60000})));
  CHECK(all_reduced(f16, DType::f16, sum, {60000, -60000, 60000}) == 60000);
  // 2049 is no fp16: each addition rounds.
  CHECK(all_reduced(f16, DType::f16, sum, {2048, 1, 1}) == 2048);
}

TEST_CASE("members that ask for different reductions call different things") {
  const Collective a{"all_reduce", 8, i32, sum, -1, nullptr, nullptr},
      b{"all_reduce", 8, i32, mean, -1, nullptr, nullptr};
  CHECK(a.signature() != b.signature());
}
