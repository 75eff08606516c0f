#include "app/models/time_axis.hpp"
#include "app/models/frame.hpp"

#include "app/models/time_window.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

std::string labels(const TimeTicks& ticks) {
  std::string text;
  for (const TimeTick& tick : ticks.ticks) text += (text.empty() ? "" : " ") + tick.label;
  return text + " " + ticks.unit;
}

}  // namespace

TEST_CASE("ticks are round numbers of the unit that fits, counted from the origin") {
  CHECK(labels(time_ticks({0, 49'000'000}, 0, 10)) == "0 5 10 15 20 25 30 35 40 45 ms");
  CHECK(labels(time_ticks({0, 1000}, 0, 5)) == "0.0 0.2 0.4 0.6 0.8 1.0 µs");
  CHECK(labels(time_ticks({2'000'000, 2'050'000}, 2'000'000, 5)) == "0 10 20 30 40 50 µs");
  CHECK(labels(time_ticks({0, 2'500'000}, 0, 5)) == "0.0 0.5 1.0 1.5 2.0 2.5 ms");
  CHECK(labels(time_ticks({0, 90'000'000'000}, 0, 5)) == "0 20 40 60 80 s");
}

TEST_CASE("ticks before the origin are negative and none is off by a rounding error after a year") {
  CHECK(labels(time_ticks({90, 125}, 100, 4)) == "-10 0 10 20 ns");
  const std::int64_t year = 31'536'000'000'000'000;
  const TimeTicks ticks = time_ticks({year, year + 1000}, year, 10);
  REQUIRE(ticks.ticks.size() == 11);
  for (std::size_t i = 0; i < ticks.ticks.size(); ++i)
    CHECK(ticks.ticks[i].time_ns == year + static_cast<std::int64_t>(i) * 100);
}

TEST_CASE("there are never more ticks than asked for, and at least a third of them") {
  for (std::int64_t length = 1000; length < 4'000'000'000'000; length = length * 17 / 10 + 3)
    for (const int most : {4, 9, 20}) {
      const auto count = static_cast<int>(time_ticks({12345, 12345 + length}, 0, most).ticks.size());
      INFO(length << " ns, at most " << most);
      CHECK(count <= most + 1);
      CHECK(count >= most / 3);
    }
}

TEST_CASE("durations have three digits and a unit") {
  CHECK(duration_text(0) == "0 ns");
  CHECK(duration_text(812) == "812 ns");
  CHECK(duration_text(2'714'000) == "2.71 ms");
  CHECK(duration_text(43'400'000) == "43.4 ms");
  CHECK(duration_text(812'400) == "812 µs");
  CHECK(duration_text(999'700) == "1.00 ms");
  CHECK(duration_text(1'250'000'000) == "1.25 s");
  CHECK(duration_text(-2'714'000) == "-2.71 ms");
  CHECK(percent_text(0.31) == "31.0 %");
}

TEST_CASE("a position has the decimals that a pixel resolves") {
  CHECK(position_text(24'136'000, 100'000) == "24.1 ms");
  CHECK(position_text(24'136'123, 1'000) == "24.136 ms");
  CHECK(position_text(0, 1'000) == "0 µs");
}

TEST_CASE("what is under the pointer stays there while one zooms") {
  const TimeRange before{1'000'000, 2'000'000};
  for (const double factor : {0.2, 0.8, 1.25, 3.0}) {
    const TimeRange after = zoomed(before, factor, 1'250'000);
    INFO(factor);
    CHECK(static_cast<double>(after.length()) == Approx(1e6 * factor));
    CHECK(static_cast<double>(1'250'000 - after.begin_ns) / static_cast<double>(after.length()) == Approx(0.25));
  }
}

TEST_CASE("zooming in ends at a microsecond and out at the whole run with its margins") {
  TimeRange range{0, 1'000'000'000};
  const TimeRange bounds = range;
  for (int i = 0; i < 200; ++i) range = clamped(zoomed(range, 0.5, 777'777'777), bounds);
  CHECK(range.length() == least_visible_ns);
  CHECK(range.begin_ns <= 777'777'777);
  CHECK(range.end_ns >= 777'777'777);
  for (int i = 0; i < 200; ++i) range = clamped(zoomed(range, 2, 777'777'777), bounds);
  CHECK(range.length() == 1'500'000'000);
  CHECK(range.begin_ns <= 0);
  CHECK(range.end_ns >= bounds.end_ns);
}

TEST_CASE("panning stops when a quarter of the view is past the end, and keeps the zoom") {
  const TimeRange bounds{0, 1'000'000};
  const TimeRange right = clamped(moved({0, 100'000}, 50'000'000), bounds);
  CHECK(right.length() == 100'000);
  CHECK(right.end_ns == 1'025'000);
  const TimeRange left = clamped(moved({0, 100'000}, -50'000'000), bounds);
  CHECK(left.begin_ns == -25'000);
}

TEST_CASE("times and pixels convert back and forth to the nanosecond, far from the session's start") {
  const std::int64_t week = 604'800'000'000'000;
  const PixelScale scale{{week, week + 1'700'000}, 1700};
  CHECK(scale.x_of(week + 1'000) == Approx(1.0));
  CHECK(scale.time_at(850) == week + 850'000);
  for (std::int64_t t = week; t < week + 1'700'000; t += 99'991) CHECK(scale.time_at(scale.x_of(t)) == t);
}
