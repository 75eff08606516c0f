#include "engine/step/step.hpp"

#include <algorithm>

namespace rankscope {

Node Step::find(int rank, OpId op) const {
  if (rank < 0 || static_cast<std::size_t>(rank) >= ranks()) return nobody;
  const auto own = ids_of(static_cast<std::size_t>(rank));
  const auto found = std::ranges::find(own, op);
  return found == own.end() ? nobody : first[static_cast<std::size_t>(rank)] + static_cast<Node>(found - own.begin());
}

std::size_t Step::rank_of(Node node) const {
  return static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), node) - first.begin()) - 1;
}

std::size_t Step::workers() const {
  return ranks() - static_cast<std::size_t>(std::count(serves.begin(), serves.end(), true)) -
         static_cast<std::size_t>(std::count(absent.begin(), absent.end(), true));
}

}  // namespace rankscope
