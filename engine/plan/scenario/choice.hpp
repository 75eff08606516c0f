// A value out of a closed set of names: in the program an enumeration, in files and messages a word. A set has one
// table of its names, in the enumerators' order: word_table<E> (choices.hpp has those of a scenario's keys,
// run_choices.hpp those of how it is run).
#pragma once
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "engine/op/word_list.hpp"

namespace rankscope {

/// The names of E in the order of its enumerators, which count from 0: a word_list() for each set.
template <class E>
inline constexpr std::span<const std::string_view> word_table{};

template <class E>
constexpr std::string_view word_of(E value) {
  return word_table<E>[static_cast<std::size_t>(value)];
}

/// A value of any set, for code that treats all keys identically: reading, writing, lists for users.
class AnyChoice {
 public:
  std::string name() const { return std::string(names_[index_]); }
  std::span<const std::string_view> names() const { return names_; }
  /// Sets the value of that name; false, and unchanged, if there is none.
  constexpr bool take(std::string_view name) {
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (names_[i] == name) {
        index_ = static_cast<std::uint8_t>(i);
        return true;
      }
    return false;
  }

  friend std::ostream& operator<<(std::ostream& out, const AnyChoice& choice) { return out << choice.name(); }

 protected:
  constexpr AnyChoice(std::span<const std::string_view> names, std::size_t index)
      : names_(names), index_(static_cast<std::uint8_t>(index)) {}
  std::span<const std::string_view> names_;
  std::uint8_t index_;
};

template <class E>
class Choice : public AnyChoice {
 public:
  constexpr Choice(E value) : AnyChoice(word_table<E>, static_cast<std::size_t>(value)) {}
  /// By its name; throws std::invalid_argument if there is none.
  template <class Text>
  requires std::is_convertible_v<const Text&, std::string_view>
  constexpr Choice(const Text& name) : Choice(E{}) {
    if (!take(name))
      throw std::invalid_argument(
          fmt::format("unknown '{}'; known: {}", std::string_view(name), fmt::join(names_, ", ")));
  }
  constexpr operator E() const { return static_cast<E>(index_); }
  friend constexpr bool operator==(const Choice& a, const Choice& b) { return a.index_ == b.index_; }
  friend constexpr bool operator==(const Choice& a, E b) { return E(a) == b; }
};

}  // namespace rankscope
