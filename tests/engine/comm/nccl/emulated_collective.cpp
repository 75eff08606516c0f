#include "tests/engine/comm/nccl/emulated_collective.hpp"

#include <algorithm>
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
const std::byte* at(const void* data, int type, std::size_t element) {
  return static_cast<const std::byte*>(data) + bytes(type, element);
}

template <class Integer>
void sum_integers(const std::vector<Collective>& calls, const std::vector<void*>& to, std::size_t first,
                  std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t total = 0;
    for (const Collective& call : calls) total += static_cast<const Integer*>(call.from)[first + i];
    for (void* one : to) static_cast<Integer*>(one)[i] = static_cast<Integer>(total);
  }
}

/// to[i] = sum over the calls of from[first + i], in member order.
void sum(const std::vector<Collective>& calls, const std::vector<void*>& to, std::size_t first, std::size_t count) {
  const int type = calls[0].type;
  if (type_of(type) == DType::i32) return sum_integers<std::int32_t>(calls, to, first, count);
  if (type_of(type) == DType::u8) return sum_integers<std::uint8_t>(calls, to, first, count);
  for (std::size_t i = 0; i < count; ++i) {
    double total = 0;
    for (const Collective& call : calls)
      total += rankscope::element(view(call.from, type, first + count), static_cast<std::int64_t>(first + i));
    for (void* one : to) rankscope::set_element(view(one, type, count), static_cast<std::int64_t>(i), total);
  }
}

}  // namespace

std::size_t bytes(int type, std::size_t count) {
  return count * static_cast<std::size_t>(rankscope::bytes_of(type_of(type)));
}

void perform(std::vector<Collective>& calls) {
  const std::string name = calls[0].name;
  const std::size_t n = calls.size(), count = calls[0].count;
  const int type = calls[0].type;
  const auto root = static_cast<std::size_t>(std::max(calls[0].root, 0));
  if (name == "broadcast") {
    for (Collective& call : calls) std::memmove(call.to, calls[root].from, bytes(type, count));
  } else if (name == "reduce") {
    sum(calls, {calls[root].to}, 0, count);
  } else if (name == "all_reduce") {
    std::vector<void*> all;
    for (Collective& call : calls) all.push_back(call.to);
    sum(calls, all, 0, count);
  } else if (name == "reduce_scatter") {
    std::vector<std::vector<std::byte>> parts(n, std::vector<std::byte>(bytes(type, count)));
    for (std::size_t m = 0; m < n; ++m) sum(calls, {parts[m].data()}, m * count, count);
    for (std::size_t m = 0; m < n; ++m) std::memcpy(calls[m].to, parts[m].data(), parts[m].size());
  } else if (name == "all_gather") {
    std::vector<std::byte> whole;
    for (const Collective& call : calls) whole.insert(whole.end(), at(call.from, type, 0), at(call.from, type, count));
    for (Collective& call : calls) std::memcpy(call.to, whole.data(), whole.size());
  }
}

}  // namespace emulated_nccl
