#include "tests/engine/comm/nccl/emulated_collective.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/tensor/element.hpp"
#include "tests/engine/comm/nccl/emulated_state.hpp"

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

template <class Integer>
void sum_integers(const std::vector<const void*>& inputs, void* to, std::size_t first, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t total = 0;
    for (const void* input : inputs) total += static_cast<const Integer*>(input)[first + i];
    static_cast<Integer*>(to)[i] = static_cast<Integer>(total);
  }
}

/// to[i] = sum over the members of their input[first + i], in member order.
void sum(const std::vector<const void*>& inputs, int type, void* to, std::size_t first, std::size_t count) {
  if (type_of(type) == DType::i32) return sum_integers<std::int32_t>(inputs, to, first, count);
  if (type_of(type) == DType::u8) return sum_integers<std::uint8_t>(inputs, to, first, count);
  for (std::size_t i = 0; i < count; ++i) {
    double total = 0;
    for (const void* input : inputs)
      total += rankscope::element(view(input, type, first + count), static_cast<std::int64_t>(first + i));
    rankscope::set_element(view(to, type, count), static_cast<std::int64_t>(i), total);
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
  if (name == "all_reduce" || (name == "reduce" && at == root)) sum(inputs, call.type, call.to, 0, call.count);
  if (name == "reduce_scatter") sum(inputs, call.type, call.to, at * call.count, call.count);
  if (name == "all_gather")
    for (std::size_t m = 0; m < inputs.size(); ++m)
      std::memcpy(static_cast<std::byte*>(call.to) + m * part, inputs[m], part);
}

}  // namespace emulated_nccl
