#include "engine/predict/strategy/space.hpp"

#include <stdexcept>

namespace rankscope {

void Space::add(std::span<const int> values) {
  if (values.size() != knobs_.size())
    throw std::invalid_argument("a point has " + std::to_string(values.size()) + " values, the space " +
                                std::to_string(knobs_.size()) + " knobs");
  for (std::size_t k = 0; k < values.size(); ++k)
    if (values[k] < 0 || values[k] >= static_cast<int>(knobs_[k].values.size()))
      throw std::invalid_argument("knob " + knobs_[k].name + " has no value number " + std::to_string(values[k]));
  values_.insert(values_.end(), values.begin(), values.end());
}

int Space::distance(std::size_t a, std::size_t b) const {
  const auto one = at(a), other = at(b);
  int apart = 0;
  for (std::size_t k = 0; k < one.size(); ++k) apart += one[k] != other[k];
  return apart;
}

}  // namespace rankscope
