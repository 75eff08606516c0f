#include "app/models/frame.hpp"

#include <atomic>

#include "app/models/composer.hpp"
#include "app/models/range_statistics.hpp"
#include "app/models/reuse.hpp"
#include "app/models/row_canvas.hpp"
#include "app/models/time_window.hpp"
#include "tests/app/models/known_run.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

// A pixel is a microsecond: 1000 µs in 1000 pixels.
FrameRequest request_for(std::shared_ptr<const StoreView> view, TimeRange range = {0, 1'000'000}, int ranks = 1) {
  FrameRequest request;
  request.run = view;
  request.shown = Obtained::emulated;
  const bool ghost = !view->extent(Obtained::simulated).empty();
  request.rows =
      std::make_shared<TimelineRows>(lay_out_rows(lane_sets(view->lanes(), Obtained::emulated, ranks), ghost, {}, 300));
  request.range = range;
  request.width = 1000;
  request.height = 300;
  return request;
}

Argb at(const Frame& frame, int x, RowKind kind, Lane lane, int rank = 0, double up = 0.5) {
  const auto row = frame.request.rows->find(rank, kind, lane);
  REQUIRE(row);
  const TimelineRow& r = frame.request.rows->rows[*row];
  const int y = r.y + static_cast<int>(r.height * up);
  return frame.pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(frame.request.width) +
                      static_cast<std::size_t>(x)];
}

const Palette& dark = palette_of(Theme::dark);

}  // namespace

TEST_CASE("a span has its class's colour from its first pixel to its last, and nowhere else") {
  KnownRun run;
  run.span(0, 0, "F:c0:m0", 100, 200).span(0, 0, "B:c0:m0", 300, 500).span(0, 0, "OPT:c0:.update", 500, 520);
  const Frame frame = compose(request_for(run.view()));
  const auto colour = [&](int x) { return at(frame, x, RowKind::compute, Lane::compute); };
  CHECK(colour(100) == dark.of(SpanClass::forward));
  CHECK(colour(198) == dark.of(SpanClass::forward));
  CHECK(colour(300) == dark.of(SpanClass::backward));
  CHECK(colour(498) == dark.of(SpanClass::backward));
  CHECK(colour(505) == dark.of(SpanClass::optimizer));
  for (int x = 0; x < 1000; ++x) {
    const bool inside = (x >= 100 && x < 200) || (x >= 300 && x < 520);
    const Argb c = colour(x);
    INFO(x);
    if (!inside) REQUIRE((c == dark.ground || c == dark.hatch));
    if (inside) REQUIRE((c != dark.ground && c != dark.hatch));
  }
  REQUIRE(frame.boxes.size() == 3);
  CHECK(frame.boxes[0].x0 == Approx(100));
  CHECK(frame.boxes[0].x1 == Approx(200));
}

TEST_CASE("idle time within the run is hatched, time outside it is not") {
  KnownRun run;
  run.span(0, 0, "F:c0:m0", 100, 200).span(0, 0, "B:c0:m0", 600, 700);
  const Frame frame = compose(request_for(run.view()));
  const auto hatched = [&](int from, int to) {
    int count = 0;
    for (int x = from; x < to; ++x) count += at(frame, x, RowKind::compute, Lane::compute) == dark.hatch;
    return count;
  };
  CHECK(hatched(0, 100) == 0);
  CHECK(hatched(700, 1000) == 0);
  CHECK(hatched(200, 600) >= 40);
  CHECK(hatched(200, 600) <= 80);
}

TEST_CASE("only a rank's own exposed communication is hatched in its colour, not that of others it waits for") {
  KnownRun run;
  run.span(0, 0, "F:c0:m0", 0, 100).span(0, 0, "B:c0:m0", 900, 1000);
  struct Known : BubbleSource {
    std::shared_ptr<const StepInsight> insight(const std::shared_ptr<const StoreView>&,
                                               const std::shared_ptr<const StoreView>&, Obtained,
                                               std::uint32_t) override {
      auto insight = std::make_shared<StepInsight>();
      const auto add = [&](double begin_us, double end_us, TimeClass time) {
        BubbleStretch stretch;
        stretch.begin_ns = KnownRun::ns(begin_us);
        stretch.end_ns = KnownRun::ns(end_us);
        stretch.cause = BubbleCause::exposed_communication;
        stretch.purpose = Purpose::server;
        stretch.time = time;
        insight->run.stretches.push_back(stretch);
      };
      add(100, 500, TimeClass::data);
      add(500, 900, TimeClass::bubble);
      return insight;
    }
  } source;
  FrameRequest request = request_for(run.view());
  request.bubbles = &source;
  const Frame frame = compose(request);
  const auto plain = [&](int from, int to) {
    int count = 0;
    for (int x = from; x < to; ++x) count += at(frame, x, RowKind::compute, Lane::compute) == dark.hatch;
    return count;
  };
  CHECK(plain(100, 500) == 0);
  CHECK(plain(500, 900) >= 40);
}

TEST_CASE("a folded pixel shows the shares of all classes, bottom up, and leaves the rest to idle") {
  KnownRun run;
  // Every 10 µs: 4 µs forward, 3 µs backward, 3 µs idle. At 10 µs per pixel that is each pixel's content.
  for (int i = 0; i < 1000; ++i)
    run.span(0, 0, "F:c0:m" + std::to_string(i), i * 10, i * 10 + 4)
        .span(0, 0, "B:c0:m" + std::to_string(i), i * 10 + 4, i * 10 + 7);
  const Frame frame = compose(request_for(run.view(), {0, 10'000'000}));
  const auto row = frame.request.rows->find(0, RowKind::compute, Lane::compute);
  const TimelineRow& compute = frame.request.rows->rows[*row];
  for (const int x : {3, 500, 996}) {
    int forward = 0, backward = 0;
    for (int y = compute.y; y < compute.bottom(); ++y) {
      const Argb c = frame.pixels[static_cast<std::size_t>(y * 1000 + x)];
      forward += c == dark.of(SpanClass::forward);
      backward += c == dark.of(SpanClass::backward);
    }
    INFO("column " << x << " of " << compute.height);
    CHECK(std::abs(forward - 0.4 * compute.height) <= 1);
    CHECK(std::abs(backward - 0.3 * compute.height) <= 1);
    CHECK(at(frame, x, RowKind::compute, Lane::compute, 0, 0.95) == dark.of(SpanClass::forward));
  }
  CHECK(frame.boxes.empty());
}

TEST_CASE("waiting for a peer is a thin line before the bytes move") {
  KnownRun run;
  run.span(0, 0, "F:c0:m0", 0, 100).span(0, 0, "RECV.pipeline_backward:c0:m0", 100, 400, 300);
  const Frame frame = compose(request_for(run.view()));
  const auto colour = [&](int x, double up) {
    return at(frame, x, RowKind::communication, Lane::backward_receive, 0, up);
  };
  CHECK(colour(350, 0.5) == dark.of(SpanClass::transfer));
  CHECK(colour(350, 0.0) == dark.of(SpanClass::transfer));
  CHECK(colour(200, 0.0) == dark.ground);
  CHECK(colour(200, 0.5) != dark.ground);
  CHECK(colour(200, 0.5) != dark.of(SpanClass::transfer));
}

TEST_CASE("time without data is dotted, neither idle nor busy") {
  KnownRun run;
  run.span(0, 0, "F:c0:m0", 0, 100).span(0, 0, "B:c0:m0", 900, 1000).gap(0, 300, 600);
  const Frame frame = compose(request_for(run.view()));
  const auto row = frame.request.rows->find(0, RowKind::compute, Lane::compute);
  const TimelineRow& compute = frame.request.rows->rows[*row];
  const auto count = [&](int from, int to, Argb colour) {
    int n = 0;
    for (int y = compute.y; y < compute.bottom(); ++y)
      for (int x = from; x < to; ++x) n += frame.pixels[static_cast<std::size_t>(y * 1000 + x)] == colour;
    return n;
  };
  CHECK(count(310, 590, dark.unknown) > 100);
  CHECK(count(310, 590, dark.hatch) == 0);
  CHECK(count(110, 290, dark.unknown) == 0);
  CHECK(count(610, 890, dark.hatch) > 100);
}

TEST_CASE("the prediction is a ghost under the step that it predicts, on the run's clock") {
  KnownRun run;
  run.span(0, 7, "F:c0:m0", 200, 300).span(0, 7, "B:c0:m0", 300, 500).span(0, 8, "F:c0:m0", 600, 700);
  // The prediction's own clock starts at another time, and it has two steps.
  run.predicted(0, 0, "F:c0:m0", 5000, 5120).predicted(0, 0, "B:c0:m0", 5120, 5300);
  run.predicted(0, 1, "F:c0:m0", 5400, 5480).predicted(0, 1, "B:c0:m0", 5500, 5600);
  const Frame frame = compose(request_for(run.view()));
  // Step 7 is drawn over predicted step 1, the last: F at 200 … 280, B at 300 … 400.
  const auto edge = [&](int x) { return at(frame, x, RowKind::ghost, Lane::compute, 0, 0.0) != dark.ground; };
  CHECK_FALSE(edge(195));
  CHECK(edge(201));
  CHECK(edge(275));
  CHECK_FALSE(edge(285));
  CHECK(edge(310));
  CHECK(edge(395));
  CHECK_FALSE(edge(410));
  CHECK(at(frame, 250, RowKind::ghost, Lane::compute, 0, 0.5) == dark.ground);  // hollow
}

TEST_CASE("the prediction of the current step is shown completely, those of its neighbours are cut with open ends") {
  // The run takes 300 µs per step, the forecast 400.
  KnownRun run;
  for (std::uint32_t step = 0; step < 3; ++step)
    run.span(0, step, "F:c0:m0", step * 300, step * 300 + 100)
        .span(0, step, "B:c0:m0", step * 300 + 100, step * 300 + 300)
        .predicted(0, step, "F:c0:m0", step * 400, step * 400 + 100)
        .predicted(0, step, "B:c0:m0", step * 400 + 150, step * 400 + 400);
  FrameRequest request = request_for(run.view());
  request.step = 1;
  const Frame frame = compose(request);
  const auto middle = [&](int x) { return at(frame, x, RowKind::ghost, Lane::compute, 0, 0.3) != dark.ground; };
  const auto edge = [&](int x) { return at(frame, x, RowKind::ghost, Lane::compute, 0, 0.0) != dark.ground; };
  // Step 0's backward of 150 … 400 is cut at 300 and does not seem to end there; nothing of it is in step 1.
  CHECK(edge(290));
  CHECK_FALSE(middle(297));
  CHECK_FALSE(middle(298));
  CHECK(middle(300));
  CHECK_FALSE(edge(420));
  // Step 1's own is 450 … 700, with a side at its end; step 2's forward of 600 … 700 is drawn under it.
  CHECK(edge(690));
  CHECK_FALSE(middle(600));
  CHECK(middle(698));
  // Without a chosen step, each ends where the next begins.
  request.step.reset();
  CHECK(at(compose(request), 600, RowKind::ghost, Lane::compute, 0, 0.3) != dark.ground);
}

TEST_CASE("threads compose the same picture as one") {
  KnownRun run;
  for (int r = 0; r < 6; ++r)
    for (int i = 0; i < 60; ++i)
      run.span(r, 0, "F:c" + std::to_string(r) + ":m" + std::to_string(i), i * 15 + r, i * 15 + r + 9);
  const FrameRequest request = request_for(run.view(), {0, 1'000'000}, 6);
  const Frame expected = compose(request);
  std::atomic<int> notified = 0;
  Composer composer([&] { ++notified; }, 3);
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t number = composer.request(request);
    REQUIRE(composer.wait_for(number, std::chrono::seconds(10)));
    REQUIRE(composer.latest().first->pixels == expected.pixels);
    REQUIRE(composer.latest().first->boxes.size() == expected.boxes.size());
  }
}

TEST_CASE("a picture moved by whole pixels equals one composed from scratch, however often it is moved") {
  KnownRun run;
  for (int r = 0; r < 3; ++r) {
    int at = 0;
    for (int i = 0; i < 400; ++i) {
      const int length = 1 + (i * 7 + r * 3) % 40;
      run.span(r, 0, (i % 3 ? "F:c0:m" : "B:c0:m") + std::to_string(i), at, at + length);
      run.span(r, 0, "SEND.pipeline_forward:c0:m" + std::to_string(i), at + length / 2, at + length, at + length * 0.7);
      at += length + (i % 5 == 0 ? 11 : 0);
    }
    run.gap(r, 3000, 3100);
  }
  FrameRequest request = request_for(run.view(), {0, 1'000'000}, 3);
  Frame moving = compose(request);
  for (const int by : {1, 40, 333, -200, 77, 600, -13, -500, 740}) {
    request.range = moved(request.range, by * 1000);
    REQUIRE(reuse_of(moving, request).has_value());
    Frame next = compose(request, &moving);
    const Frame recomposed = compose(request);
    INFO("moved by " << by << " to " << request.range.begin_ns);
    int different = 0;
    for (std::size_t i = 0; i < recomposed.pixels.size(); ++i) different += recomposed.pixels[i] != next.pixels[i];
    CHECK(different == 0);
    CHECK(next.boxes.size() == recomposed.boxes.size());
    moving = std::move(next);
  }
}

TEST_CASE("of many requests at once only the newest is composed") {
  KnownRun run;
  for (int i = 0; i < 60; ++i) run.span(0, 0, "F:c0:m" + std::to_string(i), i * 15, i * 15 + 9);
  Composer composer({}, 2);
  FrameRequest request = request_for(run.view());
  std::uint64_t number = 0;
  for (int i = 0; i < 200; ++i) {
    request.range = moved({0, 1'000'000}, i * 1000);
    number = composer.request(request);
  }
  REQUIRE(composer.wait_for(number, std::chrono::seconds(10)));
  CHECK(composer.latest().first->request.range == request.range);
  CHECK(composer.settled());
}

TEST_CASE("a request without rows, width or data is answered with an empty picture") {
  KnownRun run;
  FrameRequest request = request_for(run.view());
  Composer composer({}, 2);
  CHECK(composer.wait_for(composer.request(request), std::chrono::seconds(10)));
  request.width = 0;
  CHECK(composer.wait_for(composer.request(request), std::chrono::seconds(10)));
}

TEST_CASE("a range's statistics are the shares of its ranks' compute lanes") {
  KnownRun run;
  run.span(0, 0, "F:c0:m0", 0, 100).span(0, 0, "B:c0:m0", 100, 300);
  run.span(1, 0, "F:c1:m0", 100, 200).span(1, 0, "RECV.pipeline_forward:c1:m0", 0, 100, 80);
  const RangeStatistics all = statistics_of(*run.view(), Obtained::emulated, {0, 400'000});
  REQUIRE(all.ranks.size() == 2);
  CHECK(all.ranks[0].compute[static_cast<std::size_t>(SpanClass::backward)] == Approx(0.5).margin(1e-4));
  CHECK(all.ranks[0].idle == Approx(0.25).margin(1e-4));
  CHECK(all.ranks[1].idle == Approx(0.75).margin(1e-4));
  CHECK(all.ranks[1].transfer == Approx(0.05).margin(1e-4));
  CHECK(all.mean.idle == Approx(0.5).margin(1e-4));
  CHECK(summary_of(all).substr(0, 59) == "400 µs · idle 50.0 % · forward 25.0 % · backward 25.0 %");
}
