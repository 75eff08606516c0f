#include "app/models/navigator.hpp"

#include <QTest>

#include "app/models/steps.hpp"
#include "tests/app/models/known_run.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/app/session/sources.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

// Steps of 1 ms, one after the other, on two ranks.
std::unique_ptr<KnownRun> steps(std::uint32_t count, Obtained obtained = Obtained::measured) {
  auto run = std::make_unique<KnownRun>(obtained);
  for (std::uint32_t s = 0; s < count; ++s)
    for (const int rank : {0, 1})
      run->span(rank, s, "F:c" + std::to_string(rank) + ":m0", s * 1000 + rank * 100, s * 1000 + 400 + rank * 100)
          .span(rank, s, "B:c" + std::to_string(rank) + ":m0", s * 1000 + 500, s * 1000 + 1000);
  return run;
}

}  // namespace

TEST_CASE("following shows the last complete step, and moves with each new one") {
  application();
  const auto run = steps(3);
  HeldSource source(run->view());
  SharedState state;
  Navigator navigator(state, source);
  CHECK(state.step() == 1u);  // step 2 may still be in progress
  const TimeRange seen = state.visible();
  CHECK(seen.begin_ns == Approx(1'000'000).margin(20'000));
  CHECK(seen.end_ns == Approx(2'000'000).margin(20'000));
  run->span(0, 3, "F:c0:m0", 3000, 3400);
  source.hold(run->view());
  CHECK(state.step() == 2u);
  CHECK(state.visible().begin_ns == Approx(2'000'000).margin(20'000));
  run->end();
  source.hold(run->view());
  CHECK(state.step() == 3u);
}

TEST_CASE("navigation by the user is not interrupted by new steps") {
  application();
  const auto run = steps(3);
  HeldSource source(run->view());
  SharedState state;
  Navigator navigator(state, source);
  navigator.zoom(0.5, 1'250'000);
  const TimeRange seen = state.visible();
  for (std::uint32_t s = 3; s < 6; ++s) run->span(0, s, "F:c0:m0", s * 1000, s * 1000 + 400);
  source.hold(run->view());
  CHECK(state.visible() == seen);
  CHECK(state.step() == 1u);
}

TEST_CASE("stepping through steps keeps the position within the step, and stops at the ends") {
  application();
  const auto run = steps(5, Obtained::emulated);
  HeldSource source(run->view());
  SharedState state;
  Navigator navigator(state, source);
  CHECK(state.shown() == Obtained::emulated);
  navigator.show_step(1);
  state.set_visible({1'200'000, 1'300'000});
  navigator.step_by(+1);
  CHECK(state.step() == 2u);
  CHECK(state.visible() == TimeRange{2'200'000, 2'300'000});
  navigator.step_by(-10);
  CHECK(state.step() == 0u);
  CHECK(state.visible() == TimeRange{200'000, 300'000});
}

TEST_CASE("fit goes to the selected range, else to the selected op, else to the step") {
  application();
  const auto run = steps(3, Obtained::emulated);
  HeldSource source(run->view());
  SharedState state;
  Navigator navigator(state, source);
  navigator.show_step(0);
  state.set_selected(SpanRef{0, 0, op("F:c0:m0"), Obtained::emulated});
  navigator.fit();
  CHECK(state.visible().begin_ns < 0);
  CHECK(state.visible().end_ns == Approx(1'200'000).margin(300'000));
  navigator.selection_to_range();
  CHECK(state.selected_range() == TimeRange{0, 400'000});
  navigator.fit();
  CHECK(state.visible() == TimeRange{-20'000, 420'000});
  state.set_selected_range({});
  state.set_selected(std::nullopt);
  navigator.fit();
  CHECK(state.visible() == TimeRange{-10'000, 1'010'000});
}

TEST_CASE("a step is fitted with its prediction if that is longer, and again when the prediction arrives later") {
  const auto forecast = [](double us) {
    KnownRun run;
    run.predicted(0, 0, "F:c0:m0", 0, us / 2).predicted(0, 0, "B:c0:m0", us / 2, us);
    return run.view();
  };
  KnownRun run;
  for (int step = 0; step < 3; ++step)
    run.span(0, static_cast<std::uint32_t>(step), "F:c0:m0", step * 100, step * 100 + 40)
        .span(0, static_cast<std::uint32_t>(step), "B:c0:m0", step * 100 + 40, step * 100 + 100);
  const TimeRange step{KnownRun::ns(100), KnownRun::ns(200)};
  CHECK(step_with_forecast(*run.view(), *forecast(80), Obtained::emulated, 1) == step);
  CHECK(step_with_forecast(*run.view(), *forecast(120), Obtained::emulated, 1) ==
        TimeRange{step.begin_ns, KnownRun::ns(220)});
  CHECK(step_with_forecast(*run.view(), *forecast(900), Obtained::emulated, 1) ==
        TimeRange{step.begin_ns, KnownRun::ns(300)});
  application();
  SharedState state;
  HeldSource source(run.view());
  Navigator navigator(state, source);
  state.set_shown(Obtained::emulated);
  navigator.show_step(1);
  CHECK(state.visible().end_ns < KnownRun::ns(215));
  source.hold_prediction(forecast(120));
  CHECK(state.visible().end_ns > KnownRun::ns(220));
  // A range that the user has moved since is not changed.
  navigator.zoom(0.5, KnownRun::ns(150));
  const TimeRange chosen = state.visible();
  source.hold_prediction(forecast(140));
  CHECK(state.visible() == chosen);
}

TEST_CASE("slow motion moves the cursor at its speed and ends at the end of a recording") {
  application();
  const auto run = steps(2, Obtained::emulated);
  HeldSource source(run->view());
  SharedState state;
  Navigator navigator(state, source);
  navigator.show_step(0);
  state.set_playback_speed(0.001);  // 1 ms of the run per second
  state.set_cursor(0);
  QElapsedTimer clock;
  clock.start();
  state.set_playing(true);
  REQUIRE(QTest::qWaitFor([&] { return *state.cursor() > 0; }, 60'000));
  QTest::qWait(200);
  const double passed_ns = static_cast<double>(clock.nsecsElapsed());
  // Within the two timer ticks at the ends, and not faster than the clock.
  CHECK(static_cast<double>(*state.cursor()) <= passed_ns * 0.001 + 1);
  state.set_playback_speed(1.0);
  REQUIRE(QTest::qWaitFor([&] { return !state.playing(); }, 60'000));
  CHECK(state.cursor() == state.extent().end_ns);
  CHECK(state.step() == 1u);
}

TEST_CASE("the steps on the screen are found among many, and none are listed when they are too many") {
  const auto run = steps(50, Obtained::emulated);
  const auto view = run->view();
  const auto found = steps_within(*view, Obtained::emulated, {10'500'000, 12'500'000}, 10);
  REQUIRE(found.size() == 3);
  CHECK(found[0].step == 10);
  CHECK(found[2].step == 12);
  CHECK(steps_within(*view, Obtained::emulated, {0, 50'000'000}, 10).empty());
  CHECK(step_at(*view, Obtained::emulated, 33'700'000)->step == 33);
  CHECK_FALSE(step_at(*view, Obtained::emulated, -5));
}
