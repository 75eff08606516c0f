#include "kernels/tensor/element.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace rankscope {
namespace {

[[noreturn]] void refuse(DType type) {
  throw std::invalid_argument("no floating-point values in " + std::string(name_of(type)));
}

}  // namespace

std::uint16_t rounded_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

float widened_from_f16(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits} >> 15 << 31;
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  float size = 0;
  if (exponent == 31)
    size = fraction ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  else if (exponent == 0)
    size = std::ldexp(static_cast<float>(fraction), -24);
  else
    size = std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(size) | sign);
}

std::uint16_t rounded_to_f16(float value) {
  const auto sign = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 31 << 15);
  const float size = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7E00;
  if (size >= 65520.0f) return sign | 0x7C00;  // from half way to the next power of two
  if (size < 0x1p-14f) return sign | static_cast<std::uint16_t>(std::nearbyint(size * 0x1p24f));  // subnormal
  const auto bits = std::bit_cast<std::uint32_t>(size);
  const std::uint32_t rounded = bits + 0xFFFu + ((bits >> 13) & 1u);
  return sign | static_cast<std::uint16_t>((rounded >> 13) - (112u << 10));
}

double element(const View& view, std::int64_t index) {
  switch (view.type) {
    case DType::f64: return view.as<double>()[index];
    case DType::f32: return static_cast<double>(view.as<float>()[index]);
    case DType::bf16:
      return static_cast<double>(std::bit_cast<float>(std::uint32_t{view.as<std::uint16_t>()[index]} << 16));
    case DType::f16: return static_cast<double>(widened_from_f16(view.as<std::uint16_t>()[index]));
    case DType::i32:
    case DType::u8: break;
  }
  refuse(view.type);
}

void set_element(const View& view, std::int64_t index, double value) {
  switch (view.type) {
    case DType::f64: view.as<double>()[index] = value; return;
    case DType::f32: view.as<float>()[index] = static_cast<float>(value); return;
    // Through fp32, so that a 16-bit parameter is its rounded fp32 master, as after every update.
    case DType::bf16: view.as<std::uint16_t>()[index] = rounded_to_bf16(static_cast<float>(value)); return;
    case DType::f16: view.as<std::uint16_t>()[index] = rounded_to_f16(static_cast<float>(value)); return;
    case DType::i32:
    case DType::u8: break;
  }
  refuse(view.type);
}

}  // namespace rankscope
