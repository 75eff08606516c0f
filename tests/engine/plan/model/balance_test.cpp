#include "engine/plan/model/balance.hpp"

#include <numeric>
#include <random>
#include <stdexcept>

#include "tests/catch.hpp"
#include "tests/engine/plan/model/greatest_chunk.hpp"

using namespace rankscope;

namespace {

/// The best split, found by trying all: least greatest chunk, then least sum of squares.
std::pair<double, double> by_trying(const PartCosts& costs, int chunks) {
  std::pair<double, double> best{1e300, 1e300};
  std::vector<int> blocks;
  const auto total = static_cast<int>(costs.blocks.size());
  const auto try_from = [&](const auto& self, int begin) -> void {
    const int left = chunks - static_cast<int>(blocks.size());
    if (left == 0) {
      if (begin != total) return;
      double squares = 0;
      int first = 0;
      for (std::size_t c = 0; c < blocks.size(); first += blocks[c++]) {
        double cost = std::accumulate(costs.blocks.begin() + first, costs.blocks.begin() + first + blocks[c], 0.0);
        if (c == 0) cost += costs.first;
        if (c + 1 == blocks.size()) cost += costs.last;
        squares += cost * cost;
      }
      best = std::min(best, {greatest_chunk(costs, blocks), squares});
      return;
    }
    for (int count = 1; begin + count + left - 1 <= total; ++count) {
      blocks.push_back(count);
      self(self, begin + count);
      blocks.pop_back();
    }
  };
  try_from(try_from, 0);
  return best;
}

}  // namespace

TEST_CASE("the chosen split has the least greatest cost of all splits, and is the most even of those") {
  std::mt19937 random(3);
  for (int layers = 1; layers <= 10; ++layers)
    for (int chunks = 1; chunks <= layers; ++chunks)
      for (int trial = 0; trial < 6; ++trial) {
        // Whole numbers, so that sums and ties are exact; in some trials all blocks have equal costs.
        const auto draw = [&](int most) { return static_cast<double>(random() % static_cast<unsigned>(most)); };
        PartCosts costs{{}, draw(20), draw(60)};
        for (int b = 0; b < layers; ++b) costs.blocks.push_back(trial % 2 ? 7 : draw(12));
        CAPTURE(costs.blocks, costs.first, costs.last, chunks);
        const std::vector<int> blocks = balanced_blocks(costs, chunks);
        REQUIRE(static_cast<int>(blocks.size()) == chunks);
        REQUIRE(std::accumulate(blocks.begin(), blocks.end(), 0) == layers);
        for (const int count : blocks) REQUIRE(count >= 1);
        double squares = 0;
        int begin = 0;
        for (std::size_t c = 0; c < blocks.size(); begin += blocks[c++]) {
          PartCosts of_chunk{{costs.blocks.begin() + begin, costs.blocks.begin() + begin + blocks[c]},
                             c == 0 ? costs.first : 0,
                             c + 1 == blocks.size() ? costs.last : 0};
          const double cost = greatest_chunk(of_chunk, {blocks[c]});
          squares += cost * cost;
        }
        const auto [least, least_squares] = by_trying(costs, chunks);
        CHECK(greatest_chunk(costs, blocks) == least);
        CHECK(squares == least_squares);
      }
}

TEST_CASE("a heavy head takes blocks off the last chunk, a heavy embedding off the first") {
  const PartCosts alike{std::vector<double>(8, 1.0)};
  CHECK(balanced_blocks(alike, 4) == std::vector<int>{2, 2, 2, 2});
  // Even with the one block that it must have, the head's chunk is the greatest.
  CHECK(balanced_blocks({alike.blocks, 0, 2.5}, 4).back() == 1);
  CHECK(balanced_blocks({alike.blocks, 2, 0}, 4) == std::vector<int>{1, 3, 2, 2});
  CHECK(balanced_blocks({std::vector<double>(16, 20.0), 0, 23}, 4) == std::vector<int>{5, 4, 4, 3});
  // If the head is heavier than all blocks together, the other chunks are even.
  CHECK(balanced_blocks({alike.blocks, 0, 100}, 4) == std::vector<int>{3, 2, 2, 1});
  CHECK(greatest_chunk({alike.blocks, 0, 100}, {3, 2, 2, 1}) == 101);
}

TEST_CASE("two thousand blocks in a thousand chunks are split at once") {
  PartCosts costs{{}, 3, 11};
  for (int b = 0; b < 2047; ++b) costs.blocks.push_back(1 + b % 3);
  const std::vector<int> blocks = balanced_blocks(costs, 1000);
  CHECK(std::accumulate(blocks.begin(), blocks.end(), 0) == 2047);
  CHECK(greatest_chunk(costs, blocks) == 12);  // the head with the cheapest possible last block
}

TEST_CASE("fewer blocks than chunks are refused") {
  CHECK_THROWS_WITH(balanced_blocks({{1, 1}}, 3), ContainsText("2 blocks cannot be split into 3 chunks"));
  CHECK_THROWS_AS(balanced_blocks({{1, 1}}, 0), std::invalid_argument);
}
