#include <atomic>
#include <thread>

#include "tests/catch.hpp"
#include "tests/telemetry/store/reference.hpp"

namespace rankscope::testing {
namespace {

std::string shown(const PixelShare& p) {
  std::string text;
  for (const float share : p.busy) text += std::to_string(share) + " ";
  return text + "waiting " + std::to_string(p.waiting) + " unknown " + std::to_string(p.unknown);
}

bool alike(const PixelShare& a, const PixelShare& b) {
  const auto near = [](float x, float y) { return std::abs(x - y) < 5e-4f; };
  for (std::size_t k = 0; k < a.busy.size(); ++k)
    if (!near(a.busy[k], b.busy[k])) return false;
  return near(a.waiting, b.waiting) && near(a.unknown, b.unknown);
}

void require_equal_shares(const std::vector<PixelShare>& expected, const std::vector<PixelShare>& got,
                          TimeRange range) {
  for (std::size_t p = 0; p < expected.size(); ++p)
    if (!alike(expected[p], got[p])) {
      FAIL("column " << p << " of " << expected.size() << " over " << range.begin_ns << " … " << range.end_ns
                     << "\nwanted " << shown(expected[p]) << "\ngot    " << shown(got[p]));
    }
}

TimeRange random_range(TimeRange extent, std::mt19937_64& random) {
  const auto length = static_cast<std::uint64_t>(extent.length());
  const std::uint64_t divisor = std::uint64_t{1} << (random() % 16);
  const auto wide = static_cast<std::int64_t>(random() % (length / divisor + 2) + 1);
  const auto begin = extent.begin_ns + static_cast<std::int64_t>(random() % (length + 1)) - wide / 3;
  return {begin, begin + wide};
}

void compare(const Reference& reference, const StoreView& view, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<LaneKey> keys;
  std::int64_t count = 0;
  for (const auto& [key, lane] : reference.lanes) {
    keys.push_back(key);
    count += static_cast<std::int64_t>(lane.size());
  }
  REQUIRE(view.lanes() == keys);
  REQUIRE(view.event_count() == count);
  for (const LaneKey& key : keys) {
    const auto& lane = reference.lanes.at(key);
    TimeRange extent{INT64_MAX, INT64_MIN};
    for (const Span& s : lane) extent = {std::min(extent.begin_ns, s.begin_ns), std::max(extent.end_ns, s.end_ns)};
    REQUIRE(view.spans(key, {extent.begin_ns, extent.end_ns + 1}, 0, SIZE_MAX) == lane);
    for (int trial = 0; trial < 12; ++trial) {
      const TimeRange range = random_range(extent, random);
      const std::int64_t least = trial % 3 == 0 ? 0 : static_cast<std::int64_t>(random() % 1500);
      const std::size_t limit = trial % 4 == 0 ? 7 : SIZE_MAX;
      REQUIRE(view.spans(key, range, least, limit) == reference.spans(key, range, least, limit));
      const std::size_t columns = trial % 2 ? 1 + random() % 7 : 1 + random() % 60;
      std::vector<PixelShare> pixels(columns);
      view.shares(key, range, pixels);
      require_equal_shares(reference.shares(key, range, columns), pixels, range);
      REQUIRE(view.span_at(key, range.begin_ns) == reference.span_at(key, range.begin_ns));
      const Span& from = lane[random() % lane.size()];
      REQUIRE(view.next_span(key, from) == reference.next(key, from));
      REQUIRE(view.previous_span(key, from) == reference.previous(key, from));
      REQUIRE(view.find(key.rank, from.step, from.op, key.obtained) == from);
      REQUIRE_FALSE(view.find(key.rank, from.step + 40'000, from.op, key.obtained).has_value());
    }
    REQUIRE_FALSE(view.next_span(key, lane.back()).has_value());
    REQUIRE_FALSE(view.previous_span(key, lane.front()).has_value());
  }
  for (const Obtained obtained : {Obtained::measured, Obtained::simulated}) {
    std::set<std::uint32_t> steps;
    std::map<std::uint32_t, std::vector<Span>> by_step;
    for (const auto& [key, lane] : reference.lanes)
      if (key.obtained == obtained)
        for (const Span& s : lane) {
          steps.insert(s.step);
          by_step[s.step].push_back(s);
        }
    REQUIRE(view.steps(obtained) == std::vector<std::uint32_t>(steps.begin(), steps.end()));
    for (const std::uint32_t step : steps) {
      REQUIRE(view.step_range(obtained, step) == reference.step_range(obtained, step));
      auto expected = by_step[step];
      std::sort(expected.begin(), expected.end(), [](const Span& a, const Span& b) {
        return std::tie(a.rank, a.begin_ns, a.end_ns, a.op) < std::tie(b.rank, b.begin_ns, b.end_ns, b.op);
      });
      REQUIRE(view.step_spans(obtained, step) == expected);
    }
    REQUIRE_FALSE(view.step_range(obtained, 2).has_value());
  }
}

using Spans = std::vector<std::pair<Span, Obtained>>;

TEST_CASE("every query of the store agrees with a scan of all spans") {
  const bool overlap = GENERATE(false, true), strange = GENERATE(false, true);
  const int ops = GENERATE(5, 150, 900);
  CAPTURE(overlap, strange, ops);
  RunShape shape;
  shape.overlap = overlap;
  shape.strange = strange;
  shape.ops = ops;
  shape.ranks = ops == 900 ? 1 : 2;
  const Spans spans = invented_run(shape, 1);
  Reference reference;
  for (const auto& [span, obtained] : spans) reference.add(span, obtained);
  RunStore store;
  feed(store, spans, 100);
  compare(reference, *store.view(), 2);
}

TEST_CASE("late, duplicate and disordered batches give the same result as ordered ones") {
  const bool overlap = GENERATE(false, true);
  const unsigned seed = GENERATE(1u, 2u, 3u);
  RunShape shape;
  shape.overlap = overlap;
  shape.strange = seed == 3;
  shape.ranks = 2;
  shape.ops = 400;
  Spans spans = invented_run(shape, seed);
  Reference reference;
  for (const auto& [span, obtained] : spans) reference.add(span, obtained);

  std::mt19937_64 random(seed);
  SECTION("a tenth is duplicate, a tenth is late") {
    Spans late, disordered;
    for (const auto& span : spans) {
      (random() % 10 == 0 ? late : disordered).push_back(span);
      if (random() % 10 == 0) disordered.push_back(span);
    }
    disordered.insert(disordered.end(), late.begin(), late.end());
    spans = disordered;
  }
  SECTION("everything is shuffled") { std::shuffle(spans.begin(), spans.end(), random); }
  SECTION("everything is reversed") { std::reverse(spans.begin(), spans.end()); }

  RunStore store;
  SECTION("viewed while it arrives") {
    for (std::size_t i = 0; i < spans.size(); i += 501) {
      feed(store,
           Spans(spans.begin() + static_cast<std::ptrdiff_t>(i),
                 spans.begin() + static_cast<std::ptrdiff_t>(std::min(i + 501, spans.size()))),
           64);
      store.view();
    }
  }
  feed(store, spans, 64);  // after the section above: everything a second time
  compare(reference, *store.view(), seed);
}

TEST_CASE("a snapshot is unchanged while the run continues and late spans arrive") {
  RunShape shape;
  shape.ranks = 1;
  shape.ops = 700;
  Spans spans = invented_run(shape, 5);
  std::mt19937_64 random(9);
  std::shuffle(spans.begin() + static_cast<std::ptrdiff_t>(spans.size() / 2), spans.end(), random);
  Reference reference;
  RunStore store;
  const std::size_t part = spans.size() / 5;
  for (std::size_t i = 0; i < part; ++i) reference.add(spans[i].first, spans[i].second);
  feed(store, Spans(spans.begin(), spans.begin() + static_cast<std::ptrdiff_t>(part)), 50);
  const auto early = store.view();
  feed(store, Spans(spans.begin() + static_cast<std::ptrdiff_t>(part), spans.end()), 50);
  REQUIRE(store.view()->revision() > early->revision());
  compare(reference, *early, 5);
}

TEST_CASE("readers follow a run that is being written") {
  RunShape shape;
  shape.ranks = 2;
  shape.ops = 300;
  Spans spans = invented_run(shape, 8);
  std::mt19937_64 random(8);
  for (std::size_t i = 0; i + 40 < spans.size(); i += 40)  // slightly out of order everywhere
    std::shuffle(spans.begin() + static_cast<std::ptrdiff_t>(i), spans.begin() + static_cast<std::ptrdiff_t>(i + 40),
                 random);
  RunStore store;
  std::atomic<bool> done = false;
  std::atomic<int> wrong = 0, looks = 0;
  std::vector<std::thread> readers;
  for (int r = 0; r < 2; ++r)
    readers.emplace_back([&] {
      std::vector<PixelShare> pixels(64);
      std::int64_t seen = 0;
      for (bool last = false; !last; ++looks) {
        last = done;
        const auto view = store.view();
        std::int64_t count = 0;
        for (const LaneKey& key : view->lanes()) {
          const auto found = view->spans(key, view->extent(key.obtained), 0, SIZE_MAX);
          if (!std::is_sorted(found.begin(), found.end(), span_before)) ++wrong;
          count += static_cast<std::int64_t>(found.size());
          view->shares(key, view->extent(key.obtained), pixels);
        }
        // The last span may begin at the extent's end and not be counted; all others are counted.
        if (count < seen || count > view->event_count()) ++wrong;
        seen = count;
      }
    });
  feed(store, spans, 40);
  done = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(wrong == 0);
  CHECK(looks >= 2);
}

}  // namespace
}  // namespace rankscope::testing
