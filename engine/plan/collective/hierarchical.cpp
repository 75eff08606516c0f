#include "engine/plan/collective/algorithms.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string>

#include "engine/op/words.hpp"
#include "engine/plan/collective/list.hpp"

namespace rankscope {

using namespace collective;

namespace {

/// Appends `part`, a list over members first, first + stride, …, of elements from `offset`, its phases from `phase`.
void append(std::vector<Transfer>& list, std::vector<Transfer> part, int first, int stride, int phase,
            std::int64_t offset) {
  for (Transfer& t : part) {
    t.from = first + t.from * stride;
    t.to = first + t.to * stride;
    t.phase += phase;
    t.from_offset += offset;
    t.to_offset += offset;
    list.push_back(t);
  }
}

}  // namespace

std::vector<Transfer> hierarchical_all_reduce(int n, int per_node, std::int64_t elements) {
  if (per_node < 1 || n < 1 || n % per_node != 0)
    throw std::invalid_argument(fmt::format("{} on nodes of {}", counted(n, "member"), per_node));
  const int nodes = n / per_node;
  std::vector<Transfer> list;
  for (int node = 0; node < nodes; ++node)
    append(list, ring_reduce_scatter(per_node, elements), node * per_node, 1, 0, 0);
  for (int local = 0; local < per_node; ++local) {
    const ElementRange own = chunk_range(elements, per_node, local);
    append(list, ring_all_reduce(nodes, own.size()), local, per_node, per_node - 1, own.begin);
  }
  for (int node = 0; node < nodes; ++node)
    append(list, ring_all_gather(per_node, elements), node * per_node, 1, per_node - 1 + 2 * (nodes - 1), 0);
  return by_phase(std::move(list));
}

}  // namespace rankscope
