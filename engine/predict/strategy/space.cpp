#include "engine/predict/strategy/space.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "engine/op/words.hpp"

namespace rankscope {

void Space::add(std::span<const int> values) {
  if (values.size() != knobs_.size())
    throw std::invalid_argument(
        fmt::format("a point has {}, the space {}", counted(values.size(), "value"), counted(knobs_.size(), "knob")));
  for (std::size_t k = 0; k < values.size(); ++k)
    if (values[k] < 0 || values[k] >= static_cast<int>(knobs_[k].values.size()))
      throw std::invalid_argument(fmt::format("knob {} has no value number {}", knobs_[k].name, values[k]));
  values_.insert(values_.end(), values.begin(), values.end());
}

int Space::distance(std::size_t a, std::size_t b) const {
  const auto one = at(a), other = at(b);
  int apart = 0;
  for (std::size_t k = 0; k < one.size(); ++k) apart += one[k] != other[k];
  return apart;
}

}  // namespace rankscope
