#include "tests/catch.hpp"
#include "tests/telemetry/store/reference.hpp"

namespace rankscope::testing {
namespace {

const OpId forward0 = *parse_token("F:c0:m0"), forward1 = *parse_token("F:c0:m1"),
           send0 = *parse_token("SEND.pipeline_forward:c0:m0"), reduce0 = *parse_token("ALLREDUCE.data_gradient:c0:i0");

Span span_of(int rank, std::uint32_t step, OpId op, std::int64_t begin, std::int64_t end, std::int64_t active = -1) {
  return {rank, step, op, begin, active < 0 ? begin : active, end, -1};
}

void add(RunStore& store, std::vector<Span> spans, Obtained obtained = Obtained::measured) {
  store.accept(message_of(SpanBatch{obtained, ClockDomain::wall, std::move(spans)}));
}

std::vector<PixelShare> shares(const StoreView& view, LaneKey lane, TimeRange range, std::size_t columns) {
  std::vector<PixelShare> pixels(columns);
  view.shares(lane, range, pixels);
  return pixels;
}

TEST_CASE("an empty store answers every question with nothing") {
  const auto view = RunStore().view();
  const LaneKey lane{0, Lane::compute, Obtained::measured};
  CHECK(view->hello() == nullptr);
  CHECK(view->program(0) == nullptr);
  CHECK(view->lanes().empty());
  CHECK(view->extent(Obtained::measured) == TimeRange{});
  CHECK_FALSE(view->step_range(Obtained::measured, 0).has_value());
  CHECK_FALSE(view->span_at(lane, 0).has_value());
  CHECK_FALSE(view->next_span(lane, Span{}).has_value());
  CHECK(view->memory(0, Obtained::measured, {0, 10}, 4).empty());
  CHECK(shares(*view, lane, {0, 10}, 1)[0].unknown == 0);
  CHECK(shares(*view, lane, {10, 10}, 1)[0].busy[0] == 0);
}

TEST_CASE("waiting for a peer is separated from the transfer, and only for communication") {
  RunStore store;
  add(store, {span_of(0, 0, send0, 0, 10, 6), span_of(0, 0, forward0, 0, 10, 6)});
  const auto view = store.view();
  const PixelShare send = shares(*view, {0, Lane::forward_send, Obtained::measured}, {0, 20}, 1)[0];
  CHECK(send.waiting == Approx(0.3));
  CHECK(send.busy[static_cast<std::size_t>(SpanClass::transfer)] == Approx(0.2));
  const PixelShare compute = shares(*view, {0, Lane::compute, Obtained::measured}, {0, 20}, 1)[0];
  CHECK(compute.waiting == 0);
  CHECK(compute.busy[static_cast<std::size_t>(SpanClass::forward)] == Approx(0.5));
}

TEST_CASE("of two reports of one op the first is kept") {
  RunStore store;
  add(store, {span_of(0, 4, forward0, 100, 200)});
  const auto revision = store.view()->revision();
  add(store, {span_of(0, 4, forward0, 100, 200), span_of(0, 4, forward0, 150, 400)});
  CHECK(store.view()->revision() == revision);
  CHECK(store.view()->find(0, 4, forward0, Obtained::measured) == span_of(0, 4, forward0, 100, 200));
  add(store, {span_of(0, 4, forward0, 90, 190)}, Obtained::simulated);
  CHECK(store.view()->event_count() == 2);
}

TEST_CASE("a span that ends before it begins is ignored") {
  RunStore store;
  add(store, {span_of(0, 0, forward0, 10, 5), span_of(0, 0, forward1, 10, 20, 30)});
  CHECK(store.view()->event_count() == 0);
}

TEST_CASE("a gap is unknown, not idle, until all its messages have arrived") {
  RunStore store;
  add(store, {span_of(0, 0, forward0, 0, 50), span_of(0, 0, forward1, 250, 400)});
  add(store, {span_of(0, 0, forward1, 250, 400)}, Obtained::simulated);
  const LaneKey lane{0, Lane::compute, Obtained::measured};
  store.accept(numbered(0, 0, Gap{0, 100, 300, 12, 5, 6}));
  SECTION("the gap counts, and is drawn where no span is") {
    const auto view = store.view();
    CHECK(view->dropped_count() == 12);
    CHECK(view->gaps(0).size() == 1);
    const auto pixels = shares(*view, lane, {0, 400}, 4);
    CHECK(pixels[0].unknown == 0);
    CHECK(pixels[1].unknown == Approx(1));
    CHECK(pixels[2].unknown == Approx(0.5));
    CHECK(pixels[3].unknown == 0);
    CHECK(shares(*view, {0, Lane::compute, Obtained::simulated}, {0, 400}, 4)[1].unknown == 0);
    CHECK(shares(*view, {0, Lane::tensor, Obtained::measured}, {0, 400}, 4)[1].unknown == Approx(1));
  }
  SECTION("half of the missing messages do not fill it, all of them do, in any order") {
    store.accept(numbered(0, 6, SpanBatch{Obtained::measured, ClockDomain::wall, {span_of(0, 0, send0, 120, 130)}}));
    CHECK(store.view()->dropped_count() == 12);
    store.accept(numbered(0, 5, SpanBatch{Obtained::measured, ClockDomain::wall, {span_of(0, 0, reduce0, 150, 160)}}));
    CHECK(store.view()->dropped_count() == 0);
    CHECK(store.view()->gaps(0).empty());
    CHECK(shares(*store.view(), lane, {0, 400}, 4)[1].unknown == 0);
  }
  SECTION("reported again while it grew, it is one gap") {
    store.accept(numbered(0, 0, Gap{0, 100, 350, 20, 5, 8}));
    CHECK(store.view()->dropped_count() == 20);
    CHECK(store.view()->gaps(0).size() == 1);
  }
  SECTION("a loss on an unknown rank is unknown everywhere") {
    store.accept(numbered(-1, 0, Gap{-1, 0, 100, 3, 0, 0}));
    CHECK(shares(*store.view(), lane, {0, 400}, 4)[0].unknown == Approx(0.5));
    CHECK(store.view()->dropped_count() == 15);
  }
}

TEST_CASE("all times are on the corrected time line, and the latest fit applies whenever it arrives") {
  RunStore store;
  add(store, {span_of(1, 0, forward0, 1000, 1100)});
  add(store, {span_of(1, 0, forward0, 1000, 1100)}, Obtained::emulated);
  store.accept(message_of(ClockRecord{1, 500, 70, 3}));
  store.accept(message_of(ClockRecord{1, 100, 50, 9}));
  const auto view = store.view();
  const LaneKey lane{1, Lane::compute, Obtained::measured};
  CHECK(view->clocks() == std::vector<ClockRecord>{{1, 500, 70, 3}});
  CHECK(view->extent(Obtained::measured) == TimeRange{1070, 1170});
  CHECK(view->extent(Obtained::emulated) == TimeRange{1000, 1100});
  CHECK(view->step_range(Obtained::measured, 0) == TimeRange{1070, 1170});
  CHECK(view->spans(lane, {1070, 1071}, 0, 9) == std::vector{span_of(1, 0, forward0, 1070, 1170)});
  CHECK(view->span_at(lane, 1169).has_value());
  CHECK_FALSE(view->span_at(lane, 1069).has_value());
  CHECK(shares(*view, lane, {1070, 1170}, 1)[0].busy[0] == Approx(1));
}

TEST_CASE("a step lasts until the next one's first compute op, else until its last end") {
  RunStore store;
  add(store, {span_of(0, 0, forward0, 10, 50), span_of(1, 0, forward0, 20, 90), span_of(0, 1, forward0, 80, 120),
              span_of(0, 1, send0, 70, 150), span_of(0, 5, send0, 300, 310)});
  const auto view = store.view();
  CHECK(view->step_range(Obtained::measured, 0) == TimeRange{10, 80});
  CHECK(view->step_range(Obtained::measured, 1) == TimeRange{80, 150});
  CHECK(view->step_range(Obtained::measured, 5) == TimeRange{300, 310});
  CHECK(view->steps(Obtained::measured) == std::vector<std::uint32_t>{0, 1, 5});
}

TEST_CASE("memory keeps its peaks and valleys at every zoom") {
  std::mt19937 random(4);
  std::vector<MemorySample> samples;
  for (int i = 0; i < 5000; ++i)
    samples.push_back({0,
                       static_cast<std::uint32_t>(i / 100),
                       forward0,
                       i * 10 + static_cast<int>(random() % 10),
                       {100, 0, 50, static_cast<std::int64_t>(random() % 1000), 0}});
  const auto sum = [](const MemorySample& s) { return s.bytes[0] + s.bytes[2] + s.bytes[3]; };
  auto shuffled = samples;
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  shuffled.insert(shuffled.end(), samples.begin(), samples.begin() + 100);
  RunStore store;
  for (std::size_t i = 0; i < shuffled.size(); i += 33) {
    MemoryBatch batch;
    batch.rows.assign(shuffled.begin() + static_cast<std::ptrdiff_t>(i),
                      shuffled.begin() + static_cast<std::ptrdiff_t>(std::min(i + 33, shuffled.size())));
    store.accept(message_of(batch));
  }
  const auto view = store.view();
  CHECK(view->event_count() == 5000);
  for (const TimeRange range : {TimeRange{0, 50'000}, TimeRange{12'345, 23'456}, TimeRange{100, 101}}) {
    const int buckets = GENERATE(1, 7, 100);
    const auto found = view->memory(0, Obtained::measured, range, buckets);
    std::vector<MemorySample> expected;
    for (const MemorySample& s : samples)
      if (s.time_ns < range.begin_ns) expected = {s};
    for (int b = 0; b < buckets; ++b) {
      std::optional<MemorySample> least, greatest;
      for (const MemorySample& s : samples) {
        const double at =
            static_cast<double>(s.time_ns - range.begin_ns) * buckets / static_cast<double>(range.length());
        if (s.time_ns < range.begin_ns || s.time_ns >= range.end_ns || static_cast<int>(at) != b) continue;
        if (!least || sum(s) < sum(*least)) least = s;
        if (!greatest || sum(s) > sum(*greatest)) greatest = s;
      }
      if (!least) continue;
      expected.push_back(least->time_ns < greatest->time_ns ? *least : *greatest);
      if (!(*least == *greatest)) expected.push_back(least->time_ns < greatest->time_ns ? *greatest : *least);
    }
    REQUIRE(found == expected);
  }
}

TEST_CASE("phases of an op are ordered, once each") {
  RunStore store;
  const auto phase = [](int number, std::int64_t begin) {
    return PhaseSpan{2, 7, reduce0, number, 0, 2, 3, 64, begin, begin + 5};
  };
  store.accept(message_of(PhaseBatch{Obtained::measured, ClockDomain::wall, {phase(1, 10), phase(0, 0)}}));
  store.accept(message_of(PhaseBatch{Obtained::measured, ClockDomain::wall, {phase(1, 10), phase(2, 20)}}));
  CHECK(store.view()->phases(2, 7, reduce0) == std::vector<PhaseSpan>{phase(0, 0), phase(1, 10), phase(2, 20)});
  CHECK(store.view()->phases(2, 7, forward0).empty());
  CHECK(store.view()->event_count() == 3);
}

TEST_CASE("phases with unknown peers and bytes are stored unchanged, channel by channel") {
  RunStore store;
  const auto channel = [](int number, std::int64_t begin) {
    return PhaseSpan{2, 7, reduce0, 0, number, -1, -1, -1, begin, begin + 5};
  };
  const PhaseSpan transfer{2, 7, reduce0, 1, 0, 2, 3, 64, 12, 14};
  store.accept(message_of(
      PhaseBatch{Obtained::measured, ClockDomain::wall, {channel(1, 10), transfer, channel(0, 10), channel(1, 10)}}));
  CHECK(store.view()->phases(2, 7, reduce0) == std::vector<PhaseSpan>{channel(0, 10), channel(1, 10), transfer});
}

TEST_CASE("the latest control and summaries are kept, and the lowest rank's hello") {
  RunStore store;
  Hello hello;
  hello.title = "two";
  store.accept(numbered(2, 1, hello));
  hello.title = "zero";
  store.accept(numbered(0, 1, hello));
  store.accept(numbered(1, 9, ProgramRecord{1, 7, "new"}));
  store.accept(numbered(1, 3, ProgramRecord{1, 6, "old"}));
  StepSummary summary;
  summary.rank = 1;
  summary.spans_dropped = 4;
  for (const std::uint32_t step : {9u, 2u, 2u}) {
    summary.step = step;
    store.accept(message_of(summary));
  }
  store.accept(message_of(End{1, false, 9, "killed", false}));
  store.accept(message_of(End{0, true, 9, "", false}));
  const auto view = store.view();
  REQUIRE(view->hello() != nullptr);
  CHECK(view->hello()->title == "zero");
  CHECK(view->program(1)->text == "new");
  REQUIRE(view->summaries(1).size() == 2);
  CHECK(view->summaries(1)[0].step == 2);
  CHECK(view->dropped_count() == 8);
  REQUIRE(view->ends().size() == 2);
  CHECK(view->ends()[1].message == "killed");
}

TEST_CASE("messages of another session change nothing") {
  RunStore store;
  add(store, {span_of(0, 0, forward0, 0, 1)});
  Message other = message_of(SpanBatch{Obtained::measured, ClockDomain::wall, {span_of(0, 1, forward0, 5, 6)}});
  other.session[3] = 1;
  store.accept(other);
  CHECK(store.view()->event_count() == 1);
}

TEST_CASE("many late messages, merged rank by rank in parallel, give the same run") {
  RunStore late, ordered;
  // A tenth is late: too few per rank to be merged immediately, but together enough that several threads merge.
  constexpr int ranks = 24, each = 10'000;
  for (int rank = 0; rank < ranks; ++rank) {
    SpanBatch in_order, first, after;
    for (std::uint32_t step = 0; step < each; ++step) {
      in_order.rows.push_back(span_of(rank, step, forward0, step * 100, step * 100 + 50));
      (step % 10 == 3 ? after : first).rows.push_back(in_order.rows.back());
    }
    ordered.accept(message_of(in_order));
    late.accept(message_of(first));
    late.accept(message_of(after));
  }
  const auto merged = late.view(), whole = ordered.view();
  CHECK(merged->event_count() == ranks * each);
  for (int rank = 0; rank < ranks; ++rank) {
    const LaneKey lane{rank, Lane::compute, Obtained::measured};
    CHECK(merged->spans(lane, {0, each * 100}, 0, 2 * each) == whole->spans(lane, {0, each * 100}, 0, 2 * each));
  }
}

TEST_CASE("what a store with a limit keeps does not shrink as a run goes on") {
  RunStore store(1'000'000);
  std::int64_t early = 0;
  for (std::uint32_t step = 0; step < 20'000; ++step) {
    SpanBatch batch;
    for (int block = 0; block < 16; ++block) {
      OpFields fields = forward0.fields();
      fields.block = block;
      const std::int64_t begin = step * 1000 + block * 10;
      batch.rows.push_back(span_of(0, step, OpId::of(fields), begin, begin + 5));
    }
    store.accept(message_of(batch));
    if (step == 5000) early = store.view()->event_count();
  }
  const auto view = store.view();
  CHECK(early > 10'000);
  CHECK(view->event_count() > early - 3000);  // give or take a chunk
  const std::int64_t evicted = view->evicted_count();
  add(store, {span_of(0, 3, forward0, 3000, 3005)});
  CHECK(store.view()->event_count() == view->event_count());
  CHECK(store.view()->evicted_count() == evicted);
}

TEST_CASE("a store with a limit forgets the oldest detail, and says so") {
  RunStore store(1'000'000), whole;
  SpanBatch batch;
  std::int64_t fed = 0;
  for (std::uint32_t step = 0; step < 3000; ++step) {
    batch.rows.clear();
    for (int rank = 0; rank < 2; ++rank)
      for (const OpId op : {forward0, forward1, send0}) {
        const std::int64_t begin = step * 1000 + static_cast<int>(op.fields().micro_batch) * 100;
        for (int k = 0; k < 8; ++k) {
          OpFields fields = op.fields();
          fields.block = k;
          batch.rows.push_back(span_of(rank, step, OpId::of(fields), begin + k * 10, begin + k * 10 + 5));
        }
      }
    fed += static_cast<std::int64_t>(batch.rows.size());
    store.accept(message_of(batch));
    whole.accept(message_of(batch));
  }
  const auto view = store.view();
  CHECK(store.detail_bytes() < 1'250'000);
  CHECK(whole.detail_bytes() > 3'000'000);
  CHECK(view->event_count() + view->evicted_count() == fed);
  CHECK(view->dropped_count() == 0);
  REQUIRE(view->gaps(1).size() == 1);
  const LaneKey lane{1, Lane::compute, Obtained::measured};
  const std::int64_t oldest = view->spans(lane, {0, 10'000'000}, 0, 1).at(0).begin_ns;
  CHECK(view->gaps(1)[0].end_ns >= oldest);
  CHECK(shares(*view, lane, {0, oldest}, 3)[1].unknown == Approx(1));
  CHECK(view->step_spans(Obtained::measured, 2999).size() == 48);
  CHECK(view->find(1, 2999, forward0, Obtained::measured) == whole.view()->find(1, 2999, forward0, Obtained::measured));
  add(store, {span_of(
                 1, 0,
                 [] {
                   auto f = forward0.fields();
                   f.block = 0;
                   return OpId::of(f);
                 }(),
                 0, 5)});
  CHECK(store.view()->event_count() == view->event_count());
}

}  // namespace
}  // namespace rankscope::testing
