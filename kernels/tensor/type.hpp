// Element types and shapes of tensors: plain values, used by programs (symbolically) and by kernels (for real).
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace rankscope {

enum class DType : std::uint8_t { f64, f32, bf16, f16, i32, u8 };

/// Bytes of one element.
constexpr std::int64_t bytes_of(DType type) {
  switch (type) {
    case DType::f64: return 8;
    case DType::f32: return 4;
    case DType::bf16: return 2;
    case DType::f16: return 2;
    case DType::i32: return 4;
    case DType::u8: return 1;
  }
  return 0;
}

std::string_view name_of(DType type);
/// The type of that name ("fp64", "fp32", "bf16", "fp16", "i32", "u8"); throws std::invalid_argument otherwise.
DType dtype_named(std::string_view name);

/// Up to four extents, row-major: the last one varies fastest.
struct Shape {
  std::array<std::int64_t, 4> extent{1, 1, 1, 1};
  int rank = 0;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents) {
    for (auto e : extents) extent[rank++] = e;
  }
  std::int64_t operator[](int axis) const { return extent[axis]; }
  std::int64_t elements() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= extent[i];
    return n;
  }
  bool operator==(const Shape&) const = default;
};

}  // namespace rankscope
