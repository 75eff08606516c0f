#include "engine/plan/collective/cost.hpp"

#include <bit>

#include "engine/plan/collective/algorithms.hpp"
#include "tests/catch.hpp"
#include "tests/engine/plan/collective/cases.hpp"

using namespace rankscope;
using namespace rankscope::test;

TEST_CASE("a ring all-reduce of n ranks moves 2(n-1)/n of the buffer per rank") {
  for (int n = 1; n <= 16; ++n) {
    const std::int64_t elements = 12 * n;
    const WireCount count = count_wire(ring_all_reduce(n, elements), n);
    for (int r = 0; r < n; ++r) {
      REQUIRE(count.sent[r] * n == 2 * (n - 1) * elements);
      REQUIRE(count.received[r] * n == 2 * (n - 1) * elements);
    }
    REQUIRE(count.total == 2 * (n - 1) * elements);
  }
}

TEST_CASE("a ring all-reduce moves 2(n-1)·S over its group for any size S, also one that n does not divide") {
  for (int n = 1; n <= 16; ++n)
    for (std::int64_t elements : {0, 1, 7, 64, 1000, 100'003})
      REQUIRE(count_wire(ring_all_reduce(n, elements), n).total == 2 * (n - 1) * elements);
}

TEST_CASE("halving and doubling moves as much per rank as a ring, in 2 log n phases, when n is a power of two") {
  for (int n : {1, 2, 4, 8, 16}) {
    const std::int64_t elements = 12 * n;
    const WireCount count = count_wire(transfers_of(OpKind::all_reduce, Algorithm::halving_doubling, n, elements), n);
    for (int r = 0; r < n; ++r) REQUIRE(count.sent[r] * n == 2 * (n - 1) * elements);
    REQUIRE(count.phases == 2 * std::countr_zero(static_cast<unsigned>(n)));
  }
}

TEST_CASE("the naive all-reduce puts (n-1) whole buffers through the root's link, each way") {
  for (int n = 2; n <= 16; ++n) {
    const WireCount count = count_wire(transfers_of(OpKind::all_reduce, Algorithm::naive, n, 100), n);
    REQUIRE(count.sent[0] == (n - 1) * 100);
    REQUIRE(count.received[0] == (n - 1) * 100);
    REQUIRE(count.sent[n - 1] == 100);
  }
}

TEST_CASE("the closed forms agree with the transfer lists") {
  for (int n = 1; n <= 16; ++n)
    for (OpKind kind : collectives)
      for (Algorithm algorithm : algorithms)
        for (std::int64_t size : {0, 16, 17, 61, 1000}) {
          const bool whole = kind == OpKind::broadcast || kind == OpKind::reduce || kind == OpKind::all_reduce;
          const std::int64_t elements = whole ? size : size * n;
          for (int root : {0, n / 2, n - 1}) {
            const WireCount count = count_wire(transfers_of(kind, algorithm, n, elements, root), n);
            const WireCost closed = wire_cost(kind, algorithm, n, elements, root);
            INFO(name_of(algorithm) << " " << name_of(kind) << " of " << elements << " over " << n << " from " << root);
            REQUIRE(closed.total == count.total);
            if (elements > 0) REQUIRE(closed.phases == count.phases);
          }
        }
}

TEST_CASE("a phase costs what its busiest link carries") {
  // Ring of 4, 8 elements: six phases in which every link carries one chunk of 2.
  REQUIRE(count_wire(ring_all_reduce(4, 8), 4).busiest == std::vector<std::int64_t>{2, 2, 2, 2, 2, 2});
  // Tree broadcast from the root: each phase carries the whole buffer over its busiest link.
  REQUIRE(count_wire(transfers_of(OpKind::broadcast, Algorithm::tree, 8, 8), 8).busiest ==
          std::vector<std::int64_t>{8, 8, 8});
}
