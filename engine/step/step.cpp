#include "engine/step/step.hpp"

#include <algorithm>

namespace rankscope {

std::size_t Step::rank_of(Node node) const {
  return static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), node) - first.begin()) - 1;
}

std::size_t Step::workers() const {
  return ranks() - static_cast<std::size_t>(std::count(serves.begin(), serves.end(), true)) -
         static_cast<std::size_t>(std::count(absent.begin(), absent.end(), true));
}

}  // namespace rankscope
