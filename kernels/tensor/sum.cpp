#include "kernels/tensor/sum.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace rankscope {

namespace {

// Converts an element to and from the type of the sums. i32 and u8 are summed unsigned: overflow wraps.
template <class T>
struct Plain {
  using Stored = T;
  using Sum = T;
  static Sum load(T x) { return x; }
  static T store(Sum x) { return x; }
};

struct Bf16 {
  using Stored = std::uint16_t;
  using Sum = float;
  static float load(std::uint16_t x) { return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16); }
  static std::uint16_t store(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);  // keep it a NaN
    return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
  }
};

struct Fp16 {
  using Stored = std::uint16_t;
  using Sum = float;
  static float load(std::uint16_t x) {
    const std::uint32_t sign = static_cast<std::uint32_t>(x & 0x8000u) << 16, magnitude = x & 0x7fffu;
    if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    // After the shift the exponent bias of fp16 is wrong; the product corrects it, also for subnormal numbers.
    const float value = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
  }
  static std::uint16_t store(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);  // NaN
    if (magnitude >= 0x477ff000u)
      return static_cast<std::uint16_t>(sign | 0x7c00u);  // 65520 and more round to infinity
    if (magnitude < 0x38800000u) {  // below 2^-14: adding 0.5 leaves the rounded multiple of 2^-24 in the low bits
      const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
      return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
    }
    const std::uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
    return static_cast<std::uint16_t>(sign | (rounded - 0x38000000u) >> 13);
  }
};

template <class T>
void add_elements(void* into, const void* from, std::int64_t elements) {
  auto* out = static_cast<typename T::Stored*>(into);
  const auto* in = static_cast<const typename T::Stored*>(from);
  for (std::int64_t i = 0; i < elements; ++i)
    out[i] = T::store(static_cast<typename T::Sum>(T::load(out[i]) + T::load(in[i])));
}

// A tile's sums stay in the first-level cache while the parts stream through it.
template <class T>
void sum_elements(void* into, std::span<const void* const> parts, std::int64_t elements) {
  constexpr std::int64_t tile = 1024;
  typename T::Sum sums[tile];
  for (std::int64_t begin = 0; begin < elements; begin += tile) {
    const std::int64_t count = std::min(tile, elements - begin);
    const auto* first = static_cast<const typename T::Stored*>(parts[0]) + begin;
    for (std::int64_t i = 0; i < count; ++i) sums[i] = T::load(first[i]);
    for (const void* part : parts.subspan(1)) {
      const auto* in = static_cast<const typename T::Stored*>(part) + begin;
      for (std::int64_t i = 0; i < count; ++i) sums[i] = static_cast<typename T::Sum>(sums[i] + T::load(in[i]));
    }
    auto* out = static_cast<typename T::Stored*>(into) + begin;
    for (std::int64_t i = 0; i < count; ++i) out[i] = T::store(sums[i]);
  }
}

}  // namespace

void add_to(DType type, void* into, const void* from, std::int64_t elements) {
  switch (type) {
    case DType::f64: return add_elements<Plain<double>>(into, from, elements);
    case DType::f32: return add_elements<Plain<float>>(into, from, elements);
    case DType::bf16: return add_elements<Bf16>(into, from, elements);
    case DType::f16: return add_elements<Fp16>(into, from, elements);
    case DType::i32: return add_elements<Plain<std::uint32_t>>(into, from, elements);
    case DType::u8: return add_elements<Plain<std::uint8_t>>(into, from, elements);
  }
}

void sum_in_order(DType type, void* into, std::span<const void* const> parts, std::int64_t elements) {
  switch (type) {
    case DType::f64: return sum_elements<Plain<double>>(into, parts, elements);
    case DType::f32: return sum_elements<Plain<float>>(into, parts, elements);
    case DType::bf16: return sum_elements<Bf16>(into, parts, elements);
    case DType::f16: return sum_elements<Fp16>(into, parts, elements);
    case DType::i32: return sum_elements<Plain<std::uint32_t>>(into, parts, elements);
    case DType::u8: return sum_elements<Plain<std::uint8_t>>(into, parts, elements);
  }
}

}  // namespace rankscope
