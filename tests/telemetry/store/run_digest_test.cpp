#include "telemetry/store/run_digest.hpp"

#include <algorithm>
#include <random>

#include "tests/catch.hpp"

using namespace rankscope;

namespace {

constexpr std::int32_t ranks = 3;
constexpr std::uint32_t steps = 100, kept = 8;

Span a_span(std::int32_t rank, std::uint32_t step, int number) {
  OpFields op;
  op.kind = number % 3 == 0 ? OpKind::send : OpKind::forward;
  if (op.kind == OpKind::send) op.purpose = Purpose::pipeline_forward;
  op.micro_batch = number;
  const std::int64_t begin = step * 10'000 + number * 700 + rank * 13 - 50;
  return {rank, step, OpId::of(op), begin, begin + 20, begin + 650, 600};
}

// A run in which each batch of a rank holds two steps, measured and emulated; with samples, phases, a gap and
// summaries.
std::vector<Message> a_run() {
  std::vector<Message> run;
  std::map<std::int32_t, std::uint64_t> sequence;
  const auto publish = [&](std::int32_t rank, Event event) {
    Message m;
    m.session[0] = 1;
    m.rank = rank;
    m.sequence = ++sequence[rank];
    m.event = std::move(event);
    run.push_back(std::move(m));
  };
  Hello hello;
  hello.ranks = ranks;
  publish(0, hello);
  publish(1, ClockRecord{1, 0, 40, 5});
  for (std::uint32_t step = 0; step < steps; step += 2)
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      SpanBatch measured{Obtained::measured, ClockDomain::wall, {}},
          emulated{Obtained::emulated, ClockDomain::device, {}};
      MemoryBatch memory;
      for (const std::uint32_t s : {step, step + 1})
        for (int i = 0; i < 10; ++i) {
          measured.rows.push_back(a_span(rank, s, i));
          emulated.rows.push_back(a_span(rank, s, i));
          memory.rows.push_back({rank, s, OpId(), s * 10'000 + i, {1, 2, 3, 4, i}});
        }
      publish(rank, measured);
      publish(rank, emulated);
      publish(rank, memory);
      publish(rank,
              PhaseBatch{{},
                         {},
                         {PhaseSpan{rank, step, OpId::of({}), 0, 0, 0, 1, 64, step * 10'000, step * 10'000 + 5},
                          PhaseSpan{rank, step, OpId::of({}), 0, 2, -1, -1, -1, step * 10'000, step * 10'000 + 4}}});
      for (const std::uint32_t s : {step, step + 1}) {
        StepSummary summary;
        summary.rank = rank;
        summary.step = s;
        summary.begin_ns = s * 10'000;
        summary.end_ns = s * 10'000 + 9'000;
        summary.loss = 1.5;
        summary.spans_dropped = s == 40 ? 7 : 0;
        publish(rank, summary);
      }
    }
  publish(2, Gap{2, 5'000, 6'000, 11, 0, 0});
  return run;
}

}  // namespace

TEST_CASE("a digest has the data of a store, except for the spans of all steps before the latest") {
  std::vector<Message> run = a_run();
  SECTION("in order") {}
  SECTION("disordered over some steps") {
    std::mt19937 random(5);
    for (std::size_t i = 2; i + 30 < run.size(); i += 20)
      std::shuffle(run.begin() + static_cast<std::ptrdiff_t>(i), run.begin() + static_cast<std::ptrdiff_t>(i) + 20,
                   random);
  }
  RunStore whole;
  RunDigest digest(kept);
  for (const Message& message : run) {
    whole.accept(message);
    digest.accept(message);
  }
  const auto all = whole.view(), brief = digest.view();
  REQUIRE(brief->hello());
  CHECK(brief->event_count() == all->event_count());
  CHECK(brief->dropped_count() == all->dropped_count());
  CHECK(brief->clocks() == all->clocks());
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    CHECK(brief->summaries(rank) == all->summaries(rank));
    CHECK(brief->gaps(rank) == all->gaps(rank));
  }
  for (const Obtained obtained : {Obtained::measured, Obtained::emulated}) {
    REQUIRE(brief->steps(obtained) == all->steps(obtained));
    REQUIRE(all->steps(obtained).size() == steps);
    for (std::uint32_t step = 0; step < steps; ++step) {
      INFO("step " << step);
      REQUIRE(brief->step_range(obtained, step) == all->step_range(obtained, step));
      const auto spans = brief->step_spans(obtained, step);
      if (step + kept >= steps)
        REQUIRE(spans == all->step_spans(obtained, step));
      else
        REQUIRE(spans.empty());
    }
  }
}

TEST_CASE("a digest can be updated after it was read") {
  RunDigest digest(kept);
  const std::vector<Message> run = a_run();
  const std::size_t half = run.size() / 2;
  for (std::size_t i = 0; i < half; ++i) digest.accept(run[i]);
  const auto first = digest.view();
  for (std::size_t i = half; i < run.size(); ++i) digest.accept(run[i]);
  const auto second = digest.view();
  CHECK(second->steps(Obtained::measured).size() == steps);
  CHECK(second->step_spans(Obtained::measured, steps - 1).size() == ranks * 10);
  CHECK(first->steps(Obtained::measured).size() < steps);
  RunStore whole;
  for (const Message& message : run) whole.accept(message);
  CHECK(second->event_count() == whole.view()->event_count());
}

TEST_CASE("messages of another session are no part of a digest") {
  RunDigest digest;
  std::vector<Message> run = a_run();
  digest.accept(run[0]);
  Message other = run[2];
  other.session[0] = 2;
  digest.accept(other);
  CHECK(digest.view()->event_count() == 0);
}
