#include "engine/execute/data/sampler.hpp"

#include <cmath>
#include <set>
#include <vector>

#include "engine/execute/data/permutation.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

TEST_CASE("ranks and micro-batches tile every step's samples exactly") {
  const int steps = 3;
  for (int data = 1; data <= 6; ++data)
    for (int micro_batches = 1; micro_batches <= 7; ++micro_batches)
      for (int size = 1; size <= 5; ++size) {
        const BatchShape shape{data, micro_batches, size};
        INFO(data << " ranks, " << micro_batches << " micro-batches of " << size);
        std::vector<int> taken(static_cast<std::size_t>(shape.global_batch() * steps));
        for (int step = 0; step < steps; ++step)
          for (int d = 0; d < data; ++d)
            for (int m = 0; m < micro_batches; ++m)
              for (int i = 0; i < size; ++i) {
                const std::int64_t sample = shape.first_sample(step, d, m) + i;
                REQUIRE(sample / shape.global_batch() == step);
                ++taken[static_cast<std::size_t>(sample)];
              }
        for (int count : taken) REQUIRE(count == 1);
      }
}

TEST_CASE("a step's samples are the same under every plan") {
  Scenario scenario;
  scenario.train.global_batch = 24;
  for (int data : {1, 2, 3, 4})
    for (int micro_batches : {1, 2, 3, 6}) {
      scenario.plan.data = data;
      scenario.plan.micro_batches = micro_batches;
      if (24 % (data * micro_batches) != 0) continue;
      const BatchShape shape = batch_shape(scenario);
      CHECK(shape.global_batch() == 24);
      CHECK(shape.first_sample(5, 0, 0) == 120);
      // One rank that accumulates data·micro_batches micro-batches of this size gets the same micro-batches in order.
      const BatchShape one{1, data * micro_batches, shape.micro_batch_size};
      for (int d = 0; d < data; ++d)
        for (int m = 0; m < micro_batches; ++m)
          CHECK(shape.first_sample(5, d, m) == one.first_sample(5, 0, d * micro_batches + m));
    }
}

TEST_CASE("a permutation takes every value once, whatever its size") {
  for (const std::int64_t size : {1, 2, 3, 4, 5, 15, 16, 17, 100, 1023, 4097}) {
    const Permutation order(size, 42, 0);
    std::set<std::int64_t> seen;
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t value = order(i);
      REQUIRE(value >= 0);
      REQUIRE(value < size);
      seen.insert(value);
    }
    CHECK(static_cast<std::int64_t>(seen.size()) == size);
  }
  const Permutation large(std::int64_t{1} << 40, 42, 0);
  CHECK(large(0) != large(1));
  CHECK(large((std::int64_t{1} << 40) - 1) < std::int64_t{1} << 40);
}

TEST_CASE("permutations shuffle: positions are uncorrelated, and epochs and seeds differ") {
  const int n = 20000;
  const Permutation order(n, 1, 0), next_epoch(n, 1, 1), other_seed(n, 2, 0);
  double with_place = 0, with_neighbour = 0, with_epoch = 0, with_seed = 0, variance = 0;
  const double mean = (n - 1) / 2.0;
  int fixed = 0;
  for (int i = 0; i < n; ++i) {
    const double value = static_cast<double>(order(i)) - mean;
    variance += value * value;
    with_place += value * (i - mean);
    with_neighbour += value * (static_cast<double>(order((i + 1) % n)) - mean);
    with_epoch += value * (static_cast<double>(next_epoch(i)) - mean);
    with_seed += value * (static_cast<double>(other_seed(i)) - mean);
    fixed += order(i) == i;
  }
  const double bound = 4.5 / std::sqrt(n);
  for (double correlation : {with_place, with_neighbour, with_epoch, with_seed})
    CHECK(std::abs(correlation / variance) < bound);
  CHECK(fixed < 10);  // a random permutation has one fixed point on average
}
