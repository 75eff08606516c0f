#include "engine/plan/model/part.hpp"

#include "tests/catch.hpp"

using namespace rankscope;

namespace {

/// A parameter whose rows or columns are shared by `ranks` ranks.
ParameterSpec split(Shape whole, Shape share, TensorSplit how) {
  ParameterSpec spec;
  spec.shape = share;
  spec.whole = whole;
  spec.split = how;
  return spec;
}

/// How many ranks hold each element of the whole parameter; padding is not counted.
std::vector<int> times_held(const ParameterSpec& spec, int ranks) {
  std::vector<int> times(static_cast<std::size_t>(spec.whole.elements()));
  for (int rank = 0; rank < ranks; ++rank)
    for (const ElementRun& run : element_runs(spec, rank, 0, spec.shape.elements()))
      for (std::int64_t i = 0; i < run.count && !run.is_padding(); ++i)
        ++times[static_cast<std::size_t>(run.global + i)];
  return times;
}

using Runs = std::vector<ElementRun>;

}  // namespace

TEST_CASE("a parameter that is not split is one contiguous range, wherever a piece of it begins") {
  const ParameterSpec spec = split({6, 10}, {6, 10}, {});
  CHECK(element_runs(spec, 0, 0, 60) == Runs{{0, 0, 60}});
  CHECK(element_runs(spec, 3, 7, 20) == Runs{{0, 7, 20}});
}

TEST_CASE("shares by rows, by columns and by groups of rows cover the whole once") {
  for (const ParameterSpec& spec : {split({8, 3}, {2, 3}, {0, 1}), split({3, 8}, {3, 2}, {1, 1}),
                                    split({24, 5}, {6, 5}, {0, 3}), split({24}, {6}, {0, 3})}) {
    const std::vector<int> once(static_cast<std::size_t>(spec.whole.elements()), 1);
    CHECK(times_held(spec, 4) == once);
  }
}

TEST_CASE("a rank's part of a QKV matrix is its rows of q, of k and of v") {
  const ParameterSpec spec = split({12, 2}, {6, 2}, {0, 3});  // q k v of 4 rows, 2 ranks
  CHECK(element_runs(spec, 1, 0, 12) == Runs{{0, 4, 4}, {4, 12, 4}, {8, 20, 4}});
  CHECK(element_runs(spec, 1, 3, 4) == Runs{{0, 7, 1}, {1, 12, 3}});  // a piece, cut inside rows
}

TEST_CASE("with grouped queries a rank's rows of q are more than those of k and of v") {
  const ParameterSpec spec = split({16, 2}, {8, 2}, {0, 3, 2});  // q of 8 rows, k and v of 4, 2 ranks
  CHECK(element_runs(spec, 0, 0, 16) == Runs{{0, 0, 8}, {8, 16, 4}, {12, 24, 4}});
  CHECK(element_runs(spec, 1, 0, 16) == Runs{{0, 8, 8}, {8, 20, 4}, {12, 28, 4}});
  CHECK(times_held(spec, 2) == std::vector<int>(32, 1));
}

TEST_CASE("rows beyond the vocabulary are padding") {
  const ParameterSpec spec = split({5, 2}, {3, 2}, {0, 1});
  CHECK(element_runs(spec, 1, 0, 6) == Runs{{0, 6, 4}, {4, ElementRun::padding, 2}});
}
