// SPDX-License-Identifier: GPL-3.0-or-later
#include <QPixmap>

#include "app/session/store_filler.hpp"
#include "app/views/common/style.hpp"
#include "app/views/memory/memory_view.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

constexpr std::int64_t us = 1000;

class HeldSource : public SnapshotSource {
 public:
  HeldSource(std::shared_ptr<const StoreView> run, std::shared_ptr<const StoreView> prediction)
      : run_(std::move(run)), prediction_(std::move(prediction)) {}
  std::shared_ptr<const StoreView> view() const override { return run_; }
  std::shared_ptr<const StoreView> prediction() const override { return prediction_; }

 private:
  std::shared_ptr<const StoreView> run_, prediction_;
};

OpId forward(int micro_batch) { return OpId::of({.kind = OpKind::forward, .chunk = 0, .micro_batch = micro_batch}); }

/// One rank, one step of 100 µs: 400 bytes of parameters all the time; 600 bytes of activations from 50 µs to 80 µs.
std::shared_ptr<const StoreView> one_step(Obtained obtained, std::int64_t at_ns, std::int64_t activations = 600) {
  RunStore store;
  StoreFiller filler(store);
  Hello hello;
  hello.ranks = 1;
  filler.add(0, hello);
  const ClockDomain clock = obtained == Obtained::measured ? ClockDomain::wall : ClockDomain::device;
  SpanBatch spans{obtained, clock, {}};
  spans.spans.push_back({0, 0, forward(0), at_ns, at_ns, at_ns + 40 * us});
  spans.spans.push_back({0, 0, forward(1), at_ns + 50 * us, at_ns + 50 * us, at_ns + 100 * us});
  filler.add(0, spans);
  MemoryBatch memory{obtained, clock, {}};
  memory.samples.push_back({0, 0, forward(0), at_ns, {400, 0, 0, 0, 0}});
  memory.samples.push_back({0, 0, forward(1), at_ns + 50 * us, {400, 0, 0, activations, 0}});
  memory.samples.push_back({0, 0, forward(1), at_ns + 80 * us, {400, 0, 0, 0, 0}});
  filler.add(0, memory);
  filler.add(-1, End{});
  return store.view();
}

}  // namespace

TEST_CASE("A level of memory holds until the next sample, and a column shows its greatest moment") {
  const std::vector<MemorySample> samples{
      {0, 0, {}, 0, {10, 0, 0, 0, 0}}, {0, 0, {}, 42, {10, 0, 0, 5, 0}}, {0, 0, {}, 44, {10, 0, 0, 0, 0}}};
  const auto columns = columns_of(samples, {0, 100}, 10);
  REQUIRE(columns.size() == 10);
  CHECK(device_sum(columns[3].bytes) == 10);
  CHECK(device_sum(columns[4].bytes) == 15);
  CHECK(device_sum(columns[5].bytes) == 10);
  CHECK(device_sum(columns[9].bytes) == 10);
}

TEST_CASE("Before the first sample nothing is drawn: nothing was told") {
  const auto columns = columns_of({{0, 0, {}, 50, {10, 0, 0, 0, 0}}}, {0, 100}, 10);
  CHECK(columns[4].state == MemoryColumn::State::before);
  CHECK(columns[5].state == MemoryColumn::State::known);
}

TEST_CASE("The prediction's memory lies under the run's step wherever the run's clock stands") {
  const std::int64_t late = 7'000'000;
  MemoryRequest request;
  request.run = one_step(Obtained::measured, late);
  request.prediction = one_step(Obtained::simulated, 0, 200);
  request.range = {late, late + 100 * us};
  request.columns = 100;
  const MemoryPicture picture = compose_memory(request);
  REQUIRE(picture.peaks.size() == 1);
  CHECK(device_sum(picture.peaks[0].bytes) == 1000);
  CHECK(picture.peaks[0].predicted == 600);
  CHECK(picture.predicted[20] == 400);
  CHECK(picture.predicted[60] == 600);
  CHECK(picture.predicted[90] == 400);
  CHECK(picture.greatest == 1000);
}

TEST_CASE("Memory measured on the wall clock stands on the device clock where its op stands") {
  RunStore store;
  StoreFiller filler(store);
  Hello hello;
  hello.ranks = 1;
  hello.headline = ClockDomain::device;
  filler.add(0, hello);
  filler.add(0, SpanBatch{Obtained::measured,
                          ClockDomain::wall,
                          {{0, 0, forward(0), 0, 0, 500 * us}, {0, 0, forward(1), 500 * us, 500 * us, 900 * us}}});
  filler.add(0, SpanBatch{Obtained::emulated,
                          ClockDomain::device,
                          {{0, 0, forward(0), 0, 0, 10 * us}, {0, 0, forward(1), 10 * us, 10 * us, 20 * us}}});
  filler.add(0, MemoryBatch{
                    Obtained::measured,
                    ClockDomain::wall,
                    {{0, 0, forward(0), 5 * us, {100, 0, 0, 0, 0}}, {0, 0, forward(1), 510 * us, {100, 0, 0, 50, 0}}}});
  filler.add(-1, End{});
  MemoryRequest request;
  request.run = store.view();
  request.shown = Obtained::emulated;
  request.range = {0, 20 * us};
  request.columns = 20;
  const MemoryPicture picture = compose_memory(request);
  CHECK(device_sum(picture.columns[4].bytes) == 100);
  CHECK(device_sum(picture.columns[15].bytes) == 150);
}

TEST_CASE("The memory view paints the classes' colours up to their heights") {
  application();
  SharedState state;
  HeldSource source(one_step(Obtained::measured, 0), nullptr);
  const Theme theme = GENERATE(Theme::dark, Theme::light);
  MemoryView view(state, source);
  view.set_theme(theme);
  view.resize(900, 320);
  state.set_extent({0, 100 * us});
  state.set_visible({0, 100 * us});
  view.show();
  REQUIRE(wait_until([&] { return view.settled() && !view.picture().empty(); }));
  const TimeRange visible = state.visible();
  const QImage image = view.grab().toImage();
  const QRect area = view.time_area();
  const auto pixel = [&](std::int64_t time_ns, double bytes) {
    const double x = static_cast<double>(time_ns - visible.begin_ns) / static_cast<double>(visible.length());
    const double y = area.bottom() + 1 - bytes / view.axis_bytes() * area.height();
    return image.pixelColor(area.left() + static_cast<int>(x * area.width()), static_cast<int>(y));
  };
  const Palette& p = palette_of(theme);
  CHECK(pixel(20 * us, 150) == color(color_of(MemoryClass::parameters, p)));
  CHECK(pixel(20 * us, 700) == color(p.ground));
  CHECK(pixel(65 * us, 150) == color(color_of(MemoryClass::parameters, p)));
  CHECK(pixel(65 * us, 705) == color(color_of(MemoryClass::activations, p)));
  CHECK(pixel(90 * us, 705) == color(p.ground));
}

TEST_CASE("A veiled memory view shows no memory") {
  application();
  SharedState state;
  HeldSource source(one_step(Obtained::measured, 0), nullptr);
  MemoryView view(state, source);
  view.resize(900, 320);
  state.set_extent({0, 100 * us});
  state.set_visible({0, 100 * us});
  view.show();
  view.set_veiled(true);
  REQUIRE(wait_until([&] { return view.settled() && !view.picture().empty(); }));
  const QImage image = view.grab().toImage();
  const QColor hidden = color(color_of(MemoryClass::parameters, palette_of(Theme::dark)));
  for (int y = 0; y < image.height(); y += 2)
    for (int x = 0; x < image.width(); x += 2) REQUIRE(image.pixelColor(x, y) != hidden);
}
