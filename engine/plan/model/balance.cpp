#include "engine/plan/model/balance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "engine/op/words.hpp"

namespace rankscope {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Costs of chunks by their begin and end.
class ChunkCosts {
 public:
  ChunkCosts(const PartCosts& costs, int chunks) : costs_(costs), chunks_(chunks), before_{0} {
    for (const double block : costs.blocks) before_.push_back(before_.back() + block);
  }
  int blocks() const { return static_cast<int>(costs_.blocks.size()); }
  int chunks() const { return chunks_; }
  /// Cost of that chunk with blocks [begin, end).
  double of(int chunk, int begin, int end) const {
    double cost = before_[end] - before_[begin];
    if (chunk == 0) cost += costs_.first;
    if (chunk + 1 == chunks_) cost += costs_.last;
    return cost;
  }
  /// The possible numbers of blocks before the end of that chunk: each chunk has at least one.
  int least_end(int chunk) const { return chunk + 1; }
  int greatest_end(int chunk) const { return blocks() - (chunks_ - 1 - chunk); }

 private:
  const PartCosts& costs_;
  int chunks_;
  std::vector<double> before_;  ///< of the first blocks, by their number
};

/// The least possible cost of the most expensive chunk. least[end] is that of the chunks so far, with the first `end`
/// blocks; a chunk that begins later costs less, and the chunks before it more.
double least_greatest(const ChunkCosts& costs) {
  const auto size = static_cast<std::size_t>(costs.blocks()) + 1;
  std::vector<double> least(size, infinite), next(size, infinite);
  for (int end = 1; end <= costs.greatest_end(0); ++end) least[end] = costs.of(0, 0, end);
  for (int chunk = 1; chunk < costs.chunks(); ++chunk) {
    std::fill(next.begin(), next.end(), infinite);
    for (int end = costs.least_end(chunk); end <= costs.greatest_end(chunk); ++end)
      for (int begin = end - 1; begin >= chunk; --begin) {
        const double own = costs.of(chunk, begin, end);
        double& best = next[end];
        if (own >= best) break;
        best = std::min(best, std::max(own, least[begin]));
      }
    std::swap(least, next);
  }
  return least.back();
}

/// Of the splits without a chunk above `limit`, the one with the least sum of squares.
std::vector<int> most_even(const ChunkCosts& costs, double limit) {
  const auto size = static_cast<std::size_t>(costs.blocks()) + 1, chunks = static_cast<std::size_t>(costs.chunks());
  std::vector<std::vector<double>> least(chunks, std::vector<double>(size, infinite));
  std::vector<std::vector<int>> begin_of(chunks, std::vector<int>(size, -1));
  for (int chunk = 0; chunk < costs.chunks(); ++chunk) {
    for (int end = costs.least_end(chunk); end <= costs.greatest_end(chunk); ++end)
      for (int begin = chunk == 0 ? 0 : end - 1; begin >= chunk; --begin) {
        const double own = costs.of(chunk, begin, end);
        if (own > limit) break;
        const double before = chunk == 0 ? 0 : least[chunk - 1][begin];
        const double sum = before + own * own;
        if (sum < least[chunk][end]) {
          least[chunk][end] = sum;
          begin_of[chunk][end] = begin;
        }
      }
  }
  std::vector<int> blocks(chunks);
  int end = costs.blocks();
  for (int chunk = costs.chunks() - 1; chunk >= 0; --chunk) {
    blocks[chunk] = end - begin_of[chunk][end];
    end -= blocks[chunk];
  }
  return blocks;
}

}  // namespace

std::vector<int> balanced_blocks(const PartCosts& costs, int chunks) {
  if (chunks < 1 || chunks > static_cast<int>(costs.blocks.size()))
    throw std::invalid_argument(fmt::format("{} cannot be split into {}; each chunk needs a block of its own",
                                            counted(costs.blocks.size(), "block"), counted(chunks, "chunk")));
  const ChunkCosts of_chunks(costs, chunks);
  return most_even(of_chunks, least_greatest(of_chunks));
}

}  // namespace rankscope
