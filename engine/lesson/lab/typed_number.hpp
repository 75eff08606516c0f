// A number typed by the user to see its representation in formats: arithmetic, or bits.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/lesson/formats/format.hpp"

namespace rankscope {

struct TypedNumber {
  double value = 0;
  /// The format of the typed bits; for int8 the value is the integer, without a scale.
  std::optional<NumberFormat> format{};
  std::uint32_t bits = 0;
};

/// "1.001", "2^-24", "1/1000", "inf", "nan"; bits as "0x3f802108" (of fp32) or "bf16:0x3f80". nullopt for anything
/// else, with the valid forms in `why`.
std::optional<TypedNumber> typed_number(std::string_view text, std::string* why = nullptr);

}  // namespace rankscope
