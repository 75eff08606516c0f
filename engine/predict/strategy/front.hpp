// The Pareto front of points, to be minimized in two respects.
#pragma once
#include <cstddef>
#include <vector>

namespace rankscope {

struct TwoCosts {
  double first = 0, second = 0;
};

/// Indices of the points that no other point dominates (at most equal in both respects and less in one), by `first`; of
/// equal points the first one.
std::vector<std::size_t> pareto_front(const std::vector<TwoCosts>& points);

}  // namespace rankscope
