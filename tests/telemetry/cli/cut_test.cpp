#include "telemetry/cli/cut.hpp"

#include "tests/telemetry/cli/same_store.hpp"
#include "tests/telemetry/trace/trace_files.hpp"

namespace rankscope::testing {
namespace {

TEST_CASE("a cut by steps keeps those steps completely, and all messages that occur once") {
  RunStore whole, part;
  CutLimits limits;
  limits.first_step = 1;
  limits.last_step = 3;
  CutSink sink(part, limits);
  for (const Message& m : small_run(4000)) {
    whole.accept(m);
    sink.accept(m);
  }
  const auto a = whole.view(), b = part.view();
  REQUIRE(a->steps(Obtained::measured).size() > 4);
  CHECK(b->steps(Obtained::measured) == std::vector<std::uint32_t>{1, 2, 3});
  for (const std::uint32_t step : {1u, 2u, 3u})
    CHECK((b->step_spans(Obtained::measured, step) == a->step_spans(Obtained::measured, step)));
  CHECK(b->summaries(2).size() == 3);
  CHECK(b->program(0) != nullptr);
  CHECK(b->clocks().size() == 1);
  CHECK(b->gaps(2).size() == 1);
}

TEST_CASE("a cut by time keeps what overlaps it") {
  RunStore part;
  CutLimits limits;
  limits.from_ns = 3'000'000;
  limits.to_ns = 5'000'000;
  CutSink sink(part, limits);
  std::int64_t overlaps = 0;
  for (const Message& m : small_run(4000)) {
    sink.accept(m);
    if (const auto* batch = std::get_if<SpanBatch>(&m.event))
      for (const Span& s : batch->rows) overlaps += s.end_ns >= 3'000'000 && s.begin_ns < 5'000'000;
  }
  const auto view = part.view();
  REQUIRE(overlaps > 10);
  CHECK(view->event_count() == overlaps);
}

TEST_CASE("a cut by time is one on rank 0's clock, whichever clock a rank has") {
  // Four spans on each of two ranks at the same real times; rank 1's clock is 10 s behind.
  constexpr std::int64_t second = 1'000'000'000, behind = 10 * second;
  RunStore part;
  CutLimits limits;
  limits.from_ns = 20 * second;
  limits.to_ns = 22 * second;
  CutSink sink(part, limits, {{1, behind}});
  std::uint64_t sequence = 0;
  for (const std::int32_t rank : {0, 1}) {
    SpanBatch batch;
    for (std::uint32_t step = 0; step < 4; ++step) {
      const std::int64_t at = (19 + step) * second - rank * behind;
      batch.rows.push_back({rank, step, OpId::of({.micro_batch = 0}), at, at, at + second / 2, -1});
    }
    sink.accept({{}, rank, ++sequence, 0, batch});
    batch.obtained = Obtained::emulated;  // on no host's clock
    batch.clock = ClockDomain::device;
    sink.accept({{}, rank, ++sequence, 0, batch});
  }
  CHECK(part.view()->event_count() == 2 + 2 + 2);
}

}  // namespace
}  // namespace rankscope::testing
