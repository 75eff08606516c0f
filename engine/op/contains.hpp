// std::ranges::contains of C++23.
#pragma once
#include <algorithm>
#include <iterator>

namespace rankscope {

template <class Range, class Value>
constexpr bool contains(const Range& range, const Value& value) {
  return std::find(std::begin(range), std::end(range), value) != std::end(range);
}

}  // namespace rankscope
