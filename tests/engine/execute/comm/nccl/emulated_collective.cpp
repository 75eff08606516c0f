#include "tests/engine/execute/comm/nccl/emulated_collective.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/tensor/element.hpp"
#include "tests/engine/execute/comm/nccl/emulated_state.hpp"

namespace emulated_nccl {
namespace {

using rankscope::DType;
using rankscope::View;

DType type_of(int type) {
  switch (type) {
    case 1: return DType::u8;
    case 2: return DType::i32;
    case 6: return DType::f16;
    case 7: return DType::f32;
    case 8: return DType::f64;
    case 9: return DType::bf16;
    default: note("an element type that is none: " + std::to_string(type)); return DType::u8;
  }
}

View view(const void* data, int type, std::size_t count) {
  return {const_cast<void*>(data), type_of(type), {static_cast<std::int64_t>(count)}};
}

enum Reduction { by_sum = 0, by_product = 1, by_maximum = 2, by_minimum = 3, by_mean = 4 };

template <class Number>
Number reduced(int reduction, Number a, Number b) {
  switch (reduction) {
    case by_sum:
    case by_mean: return static_cast<Number>(a + b);
    case by_product: return static_cast<Number>(a * b);
    case by_maximum: return std::max(a, b);
    case by_minimum: return std::min(a, b);
    default: note("a reduction that is none: " + std::to_string(reduction)); return a;
  }
}

template <class Integer>
void reduce_integers(int reduction, const std::vector<const void*>& inputs, void* to, std::size_t first,
                     std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t total = static_cast<const Integer*>(inputs[0])[first + i];
    for (std::size_t m = 1; m < inputs.size(); ++m)
      total = reduced<std::int64_t>(reduction, total, static_cast<const Integer*>(inputs[m])[first + i]);
    if (reduction == by_mean) total /= static_cast<std::int64_t>(inputs.size());
    static_cast<Integer*>(to)[i] = static_cast<Integer>(total);
  }
}

/// to[i] = the members' input[first + i], reduced in member order. As NCCL does, every partial result is rounded to the
/// elements' type, in which it may overflow where the whole sum would not.
void reduce(const Collective& call, const std::vector<const void*>& inputs, std::size_t first) {
  if (type_of(call.type) == DType::i32)
    return reduce_integers<std::int32_t>(call.reduction, inputs, call.to, first, call.count);
  if (type_of(call.type) == DType::u8)
    return reduce_integers<std::uint8_t>(call.reduction, inputs, call.to, first, call.count);
  const View to = view(call.to, call.type, call.count);
  for (std::size_t i = 0; i < call.count; ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const auto given = [&](std::size_t member) {
      return rankscope::element(view(inputs[member], call.type, first + call.count),
                                static_cast<std::int64_t>(first + i));
    };
    double total = given(0);
    const auto round = [&] {
      rankscope::set_element(to, at, total);
      total = rankscope::element(to, at);
    };
    for (std::size_t m = 1; m < inputs.size(); ++m) {
      total = reduced(call.reduction, total, given(m));
      round();
    }
    if (call.reduction == by_mean) total /= static_cast<double>(inputs.size());
    round();
  }
}

}  // namespace

std::size_t bytes(int type, std::size_t count) {
  return count * static_cast<std::size_t>(rankscope::bytes_of(type_of(type)));
}

std::size_t input_bytes(const Collective& call, int members, int member) {
  const std::string name = call.name;
  if (name == "broadcast" && member != call.root) return 0;
  return bytes(call.type, call.count * static_cast<std::size_t>(name == "reduce_scatter" ? members : 1));
}

void perform(const Collective& call, const std::vector<const void*>& inputs, int member) {
  const std::string name = call.name;
  const auto at = static_cast<std::size_t>(member), root = static_cast<std::size_t>(std::max(call.root, 0));
  const std::size_t part = bytes(call.type, call.count);
  if (name == "broadcast") std::memcpy(call.to, inputs[root], part);
  if (name == "all_reduce" || (name == "reduce" && at == root)) reduce(call, inputs, 0);
  if (name == "reduce_scatter") reduce(call, inputs, at * call.count);
  if (name == "all_gather")
    for (std::size_t m = 0; m < inputs.size(); ++m)
      std::memcpy(static_cast<std::byte*>(call.to) + m * part, inputs[m], part);
}

}  // namespace emulated_nccl
