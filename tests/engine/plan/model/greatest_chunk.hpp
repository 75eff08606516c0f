// The quality of a split of a model into chunks.
#pragma once
#include <algorithm>
#include <vector>

#include "engine/plan/model/balance.hpp"

namespace rankscope {

/// The cost of the greatest chunk.
inline double greatest_chunk(const PartCosts& costs, const std::vector<int>& blocks) {
  double greatest = 0;
  std::size_t block = 0;
  for (std::size_t chunk = 0; chunk < blocks.size(); ++chunk) {
    double cost = (chunk == 0 ? costs.first : 0) + (chunk + 1 == blocks.size() ? costs.last : 0);
    for (int i = 0; i < blocks[chunk]; ++i) cost += costs.blocks[block++];
    greatest = std::max(greatest, cost);
  }
  return greatest;
}

}  // namespace rankscope
