// Cuts a model into chunks so that the slowest chunk is as fast as possible.
#pragma once
#include <vector>

namespace rankscope {

/// The costs of the parts of a model: forward, backward and recomputation of one micro-batch, in any unit.
/// None is negative.
struct PartCosts {
  std::vector<double> blocks;  ///< in order
  double first = 0;            ///< before the blocks, on the first chunk: the embedding
  double last = 0;             ///< after them, on the last chunk: the head and the loss
};

/// Blocks of `chunks` consecutive chunks, at least one each: the greatest chunk costs as little as possible,
/// and of these splits this one has the least sum of squared chunk costs, so that the others are as even as possible;
/// of equal splits, the one with the more expensive chunks first. Exact, by dynamic programming over the cuts. Throws
/// std::invalid_argument when there are fewer blocks than chunks, or no chunk.
std::vector<int> balanced_blocks(const PartCosts& costs, int chunks);

}  // namespace rankscope
