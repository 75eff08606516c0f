// The names of an enumeration's values, which start at 0, as a table in their order.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace rankscope {

template <class... Text>
constexpr std::array<std::string_view, sizeof...(Text)> word_list(const Text&... names) {
  return {names...};
}

/// "?" for a number without a name: recordings of later versions may contain some.
template <class Enum, std::size_t count>
constexpr std::string_view word_at(const std::array<std::string_view, count>& names, Enum value) {
  const auto index = static_cast<std::size_t>(value);
  return index < count ? names[index] : "?";
}

/// The value of that name, of the first `count`.
template <class Enum>
std::optional<Enum> value_named(std::string_view name, int count) {
  for (int i = 0; i < count; ++i)
    if (name_of(static_cast<Enum>(i)) == name) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace rankscope
