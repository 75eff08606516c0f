// A store that folds old steps gives the same answers about a run as one that keeps every summary.
#include <algorithm>
#include <random>

#include "tests/catch.hpp"
#include "tests/telemetry/store/reference.hpp"

namespace rankscope::testing {
namespace {

constexpr std::int32_t ranks = 3;
constexpr std::uint32_t steps = 1500, kept = 100;

const OpId forward = *parse_token("F:c0:m0"), send = *parse_token("SEND.pipeline_forward:c0:m0");

StepSummary summary_of(std::int32_t rank, std::uint32_t step) {
  StepSummary s;
  s.rank = rank;
  s.step = step;
  s.begin_ns = std::int64_t{step} * 10'000 + rank;
  s.end_ns = s.begin_ns + 9'000 + step % 7;
  s.loss = 5 - step * 0.001;
  s.tokens = rank == 2 ? 64 : 0;
  s.gradient_square_norm = rank + step;
  s.learning_rate = 0.5 / (step + 1);
  s.model_flops = 1e6 + rank;
  s.hardware_flops = 2e6;
  s.peak_bytes = {1, 2, step % 900, 4, rank};
  s.peak_total_bytes = 7 + step % 900;
  s.traffic = {{Purpose::pipeline_forward, OpKind::send, 2, 64, 60 + step % 3, GroupKind::self}};
  s.sent = {{(rank + 1) % ranks, 60 + step % 3}};
  s.spans_emitted = 2;
  s.spans_dropped = step == 40 ? 7 : 0;
  s.energy_joules = rank == 0 ? 0.25 : 0;
  if (rank == 0) s.energy_source = PowerSource::rapl;
  return s;
}

std::vector<Message> a_run() {
  std::vector<Message> run;
  std::array<std::uint64_t, ranks> sequence{};
  const auto publish = [&](std::int32_t rank, Event event) {
    run.push_back(numbered(rank, ++sequence[static_cast<std::size_t>(rank)], std::move(event)));
  };
  Hello hello;
  hello.ranks = ranks;
  publish(0, hello);
  publish(1, ClockRecord{1, 0, 40, 5});
  for (std::uint32_t step = 0; step < steps; ++step)
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      const std::int64_t begin = std::int64_t{step} * 10'000 + rank * 13;
      for (const Obtained obtained : {Obtained::measured, Obtained::emulated})
        publish(rank, SpanBatch{obtained,
                                ClockDomain::wall,
                                {{rank, step, send, begin - 50, begin - 20, begin, -1},
                                 {rank, step, forward, begin, begin, begin + 8'000, -1}}});
      publish(rank, summary_of(rank, step));
    }
  return run;
}

void check_same(const RunTotals& a, const RunTotals& b) {
  std::uint32_t seen = 0;
  b.steps.for_each([&](std::uint32_t step, const StepTotals& expected) {
    ++seen;
    INFO("step " << step);
    const StepTotals* other = a.steps.find(step);
    REQUIRE(other != nullptr);
    REQUIRE(other->ranks == expected.ranks);
    REQUIRE(other->begin_ns == expected.begin_ns);
    REQUIRE(other->end_ns == expected.end_ns);
    REQUIRE(other->weighted_loss == expected.weighted_loss);
    REQUIRE(other->tokens == expected.tokens);
    REQUIRE(other->square_norm == expected.square_norm);
    REQUIRE(other->learning_rate == expected.learning_rate);
    REQUIRE(other->model_flops == expected.model_flops);
    REQUIRE(other->joules == expected.joules);
    REQUIRE(other->energy_ranks == expected.energy_ranks);
    REQUIRE(other->counters == expected.counters);
  });
  CHECK(seen == steps);
  REQUIRE(a.ranks.size() == b.ranks.size());
  for (const auto& [rank, expected] : b.ranks) {
    const RankTotals& other = a.ranks.at(rank);
    CHECK(other.steps == expected.steps);
    CHECK(other.peak_bytes == expected.peak_bytes);
    CHECK(other.peak_total_bytes == expected.peak_total_bytes);
    CHECK(other.spans_emitted == expected.spans_emitted);
    CHECK(other.spans_dropped == expected.spans_dropped);
    CHECK(other.sent == expected.sent);
    CHECK(other.links_complete == expected.links_complete);
  }
  REQUIRE(a.traffic.size() == b.traffic.size());
  for (const auto& [key, expected] : b.traffic) {
    CHECK(a.traffic.at(key).count == expected.count);
    CHECK(a.traffic.at(key).wire_bytes == expected.wire_bytes);
    CHECK(a.traffic.at(key).rows == expected.rows);
  }
}

void check_same(const StoreView& folded, const StoreView& whole) {
  check_same(*folded.totals(), *whole.totals());
  CHECK(folded.dropped_count() == whole.dropped_count());
  CHECK(folded.event_count() == whole.event_count());
  for (const Obtained obtained : {Obtained::measured, Obtained::emulated}) {
    REQUIRE(folded.steps(obtained) == whole.steps(obtained));
    for (std::uint32_t step = 0; step < steps; ++step)
      REQUIRE(folded.step_range(obtained, step) == whole.step_range(obtained, step));
    for (const std::uint32_t step : {0u, 700u, steps - 1})
      CHECK(folded.step_spans(obtained, step) == whole.step_spans(obtained, step));
  }
}

TEST_CASE(
    "a store that folds steps agrees with one that keeps all on a long run, except for the old steps' summaries") {
  std::vector<Message> run = a_run();
  SECTION("in order") {}
  SECTION("with many duplicates") {
    for (std::size_t i = run.size(); i-- > 2;)
      if (i % 3 == 0) run.insert(run.begin() + static_cast<std::ptrdiff_t>(std::min(run.size(), i + 2000)), run[i]);
  }
  SECTION("disordered over more steps than are kept") {
    std::mt19937 random(5);
    for (std::size_t i = 2; i < run.size(); i += 2000)
      std::shuffle(run.begin() + static_cast<std::ptrdiff_t>(i),
                   run.begin() + static_cast<std::ptrdiff_t>(std::min(run.size(), i + 2000)), random);
  }
  RunStore whole, folding(0, kept);
  for (const Message& message : run) {
    whole.accept(message);
    folding.accept(message);
  }
  const auto all = whole.view(), brief = folding.view();
  check_same(*brief, *all);
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    CHECK(all->summaries(rank).size() == steps);
    const auto latest = brief->summaries(rank);
    CHECK(latest.size() >= kept);
    CHECK(latest.size() < kept + 2 * 64);
    REQUIRE(latest.back() == all->summaries(rank).back());
    CHECK(brief->summary(rank, steps - 1) == latest.back());
    CHECK_FALSE(brief->summary(rank, 3).has_value());
    CHECK(all->summary(rank, 3).has_value());
  }
}

TEST_CASE("a snapshot stays as it was when steps in it are folded later") {
  const std::vector<Message> run = a_run();
  RunStore folding(0, kept), whole;
  const std::size_t half = run.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    folding.accept(run[i]);
    whole.accept(run[i]);
  }
  const auto early = folding.view(), early_whole = whole.view();
  for (std::size_t i = half; i < run.size(); ++i) folding.accept(run[i]);
  const auto late = folding.view();
  CHECK(late->totals()->steps.find(steps - 1) != nullptr);
  CHECK(early->totals()->steps.find(steps - 1) == nullptr);
  for (const std::uint32_t step : {0u, 500u, 700u}) {
    CHECK(early->totals()->steps.find(step)->ranks == ranks);
    CHECK(early->step_range(Obtained::measured, step) == early_whole->step_range(Obtained::measured, step));
  }
  CHECK(early->summaries(1).back() == early_whole->summaries(1).back());
}

TEST_CASE("a late summary of an old step is added once, with its spans") {
  RunStore store(0, kept);
  std::array<std::uint64_t, ranks> sequence{};
  const auto publish = [&](std::int32_t rank, Event event) {
    store.accept(numbered(rank, ++sequence[static_cast<std::size_t>(rank)], std::move(event)));
  };
  Hello hello;
  hello.ranks = ranks;
  publish(0, hello);
  for (std::uint32_t step = 0; step < 400; ++step)
    for (std::int32_t rank = 0; rank < ranks; ++rank)
      if (rank != 1 || step != 40) publish(rank, summary_of(rank, step));
  CHECK(store.view()->totals()->steps.find(40)->ranks == 2);
  for (int again = 0; again < 2; ++again) {
    publish(1, summary_of(1, 40));
    publish(1, summary_of(1, 39));
    CHECK(store.view()->totals()->steps.find(40)->ranks == 3);
    CHECK(store.view()->totals()->steps.find(39)->ranks == 3);
  }
  CHECK(store.view()->totals()->ranks.at(1).steps == 400);
  CHECK(store.view()->dropped_count() == 21);
  publish(2, SpanBatch{Obtained::measured, ClockDomain::wall, {{2, 5, forward, 50'100, 50'100, 50'900, -1}}});
  CHECK(store.view()->step_range(Obtained::measured, 5) == TimeRange{50'100, 50'900});
  publish(0, SpanBatch{Obtained::measured, ClockDomain::wall, {{0, 5, forward, 50'000, 50'000, 50'200, -1}}});
  for (std::uint32_t step = 400; step < 700; ++step)
    for (std::int32_t rank = 0; rank < ranks; ++rank) publish(rank, summary_of(rank, step));
  CHECK(store.view()->step_range(Obtained::measured, 5) == TimeRange{50'000, 50'900});
  CHECK(store.view()->step_spans(Obtained::measured, 5).size() == 2);
}

}  // namespace
}  // namespace rankscope::testing
