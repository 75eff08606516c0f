// Whether two stores give the same answers.
#pragma once
#include "telemetry/store/run_store.hpp"
#include "tests/catch.hpp"

namespace rankscope::testing {

inline void require_same(const StoreView& a, const StoreView& b) {
  REQUIRE(a.event_count() == b.event_count());
  REQUIRE(a.dropped_count() == b.dropped_count());
  REQUIRE((a.hello() == nullptr) == (b.hello() == nullptr));
  if (a.hello()) REQUIRE((*a.hello() == *b.hello()));
  REQUIRE((a.clocks() == b.clocks()));
  REQUIRE((a.ends() == b.ends()));
  REQUIRE((a.lanes() == b.lanes()));
  for (const LaneKey& lane : a.lanes())
    REQUIRE((a.spans(lane, {INT64_MIN / 4, INT64_MAX / 4}, 0, SIZE_MAX) ==
             b.spans(lane, {INT64_MIN / 4, INT64_MAX / 4}, 0, SIZE_MAX)));
  for (const Obtained obtained : {Obtained::measured, Obtained::emulated, Obtained::simulated}) {
    REQUIRE(a.extent(obtained) == b.extent(obtained));
    REQUIRE(a.steps(obtained) == b.steps(obtained));
    for (const std::uint32_t step : a.steps(obtained)) {
      REQUIRE(a.step_range(obtained, step) == b.step_range(obtained, step));
      for (const Span& span : a.step_spans(obtained, step))
        REQUIRE((a.phases(span.rank, step, span.op) == b.phases(span.rank, step, span.op)));
    }
  }
  for (int rank = -1; rank < 64; ++rank) {
    REQUIRE((a.summaries(rank) == b.summaries(rank)));
    REQUIRE((a.gaps(rank) == b.gaps(rank)));
    REQUIRE((a.program(rank) == nullptr) == (b.program(rank) == nullptr));
    for (const Obtained obtained : {Obtained::measured, Obtained::emulated, Obtained::simulated})
      REQUIRE((a.memory(rank, obtained, {0, INT64_MAX / 4}, 1 << 20) ==
               b.memory(rank, obtained, {0, INT64_MAX / 4}, 1 << 20)));
  }
}

}  // namespace rankscope::testing
