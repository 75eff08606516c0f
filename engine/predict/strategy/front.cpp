#include "engine/predict/strategy/front.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace rankscope {

std::vector<std::size_t> pareto_front(const std::vector<TwoCosts>& points) {
  std::vector<std::size_t> order(points.size()), front;
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(points[a].first, points[a].second, a) < std::tuple(points[b].first, points[b].second, b);
  });
  double least = std::numeric_limits<double>::infinity();
  for (const std::size_t i : order) {
    if (points[i].second >= least) continue;
    least = points[i].second;
    front.push_back(i);
  }
  return front;
}

}  // namespace rankscope
