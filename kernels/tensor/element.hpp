// Single elements of any floating type as fp64: for code that seldom accesses tensors (initial weights, comparisons,
// checkpoints). Rounding is to nearest, ties to even.
#pragma once
#include <cstdint>

#include "kernels/tensor/view.hpp"

namespace rankscope {

/// Integers up to 2^that are exact.
constexpr int digits_of(DType type) {
  switch (type) {
    case DType::f64: return 53;
    case DType::f32: return 24;
    case DType::bf16: return 8;
    case DType::f16: return 11;
    case DType::i32: return 31;
    case DType::u8: return 8;
  }
  return 0;
}

/// Throws std::invalid_argument for i32 and u8.
double element(const View& view, std::int64_t index);
void set_element(const View& view, std::int64_t index, double value);

/// fp16 values are widened exactly; values too large for fp16 become infinite.
float widened_from_f16(std::uint16_t bits);
std::uint16_t rounded_to_f16(float value);
std::uint16_t rounded_to_bf16(float value);

}  // namespace rankscope
