#include "engine/simulate/collective_costs.hpp"

#include <utility>

namespace rankscope {

std::function<std::int64_t(OpKind, std::span<const int>, std::int64_t)> collective_costs(
    std::string_view algorithm, std::function<Link(int, int)> link) {
  const auto named = algorithm_named(algorithm);
  if (!named || *named == Algorithm::ring) return {};
  return [named = *named, link = std::move(link)](OpKind kind, std::span<const int> members, std::int64_t payload) {
    return algorithm_ns(kind, named, members, payload, link);
  };
}

}  // namespace rankscope
