// SPDX-License-Identifier: GPL-3.0-or-later
#include <QPixmap>
#include <set>

#include "app/views/common/style.hpp"
#include "app/views/memory/memory_view.hpp"
#include "telemetry/event/event_sender.hpp"
#include "tests/app/painted_text.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/app/session/runs.hpp"
#include "tests/app/session/sources.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

constexpr std::int64_t us = 1000;

OpId forward(int micro_batch) { return OpId::of({.kind = OpKind::forward, .chunk = 0, .micro_batch = micro_batch}); }

/// One rank, one step of 100 µs: 400 bytes of parameters all the time; 600 bytes of activations from 50 µs to 80 µs.
std::shared_ptr<const StoreView> one_step(Obtained obtained, std::int64_t at_ns, std::int64_t activations = 600) {
  RunStore store;
  EventSender filler(store);
  Hello hello;
  hello.ranks = 1;
  filler.add(0, hello);
  const ClockDomain clock = obtained == Obtained::measured ? ClockDomain::wall : ClockDomain::device;
  SpanBatch spans{obtained, clock, {}};
  spans.rows.push_back({0, 0, forward(0), at_ns, at_ns, at_ns + 40 * us});
  spans.rows.push_back({0, 0, forward(1), at_ns + 50 * us, at_ns + 50 * us, at_ns + 100 * us});
  filler.add(0, spans);
  MemoryBatch memory{obtained, clock, {}};
  memory.rows.push_back({0, 0, forward(0), at_ns, {400, 0, 0, 0, 0}});
  memory.rows.push_back({0, 0, forward(1), at_ns + 50 * us, {400, 0, 0, activations, 0}});
  memory.rows.push_back({0, 0, forward(1), at_ns + 80 * us, {400, 0, 0, 0, 0}});
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

TEST_CASE("Before the first sample nothing is drawn: the memory is unknown") {
  const auto columns = columns_of({{0, 0, {}, 50, {10, 0, 0, 0, 0}}}, {0, 100}, 10);
  CHECK(columns[4].state == MemoryColumn::State::before);
  CHECK(columns[5].state == MemoryColumn::State::known);
}

TEST_CASE("The predicted memory is drawn under the run's step, independent of the run's clock") {
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

TEST_CASE("Memory measured on the wall clock is placed on the device clock with its op") {
  RunStore store;
  EventSender filler(store);
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

namespace {

/// The program of a small pipeline's rank, as in the session.
class Programs : public BubbleSource {
 public:
  explicit Programs(const Prediction& prediction) : prediction_(prediction) {}
  std::shared_ptr<const RankProgram> program(int rank) override {
    return {prediction_.context, &prediction_.context->programs[static_cast<std::size_t>(rank)]};
  }
  std::shared_ptr<const StepInsight> insight(const std::shared_ptr<const StoreView>&,
                                             const std::shared_ptr<const StoreView>&, Obtained,
                                             std::uint32_t) override {
    return nullptr;
  }

 private:
  const Prediction& prediction_;
};

}  // namespace

TEST_CASE("The live buffers during an op sum up to the ledger's bytes in each class") {
  const Prediction prediction = predict(small_scenario());
  REQUIRE(prediction.refusal.empty());
  for (const RankProgram& program : prediction.context->programs) {
    const MemoryProfile profile = memory_profile(program);
    for (OpIndex i = 0; i < program.ops.size(); ++i) {
      ClassBytes sums{};
      for (const AliveBuffer& buffer : alive_at(program, i))
        sums[static_cast<std::size_t>(buffer.memory)] += buffer.bytes;
      INFO("rank " << program.rank << ", " << to_token(program.ops[i].id));
      REQUIRE(sums == profile.at[i]);
    }
  }
}

TEST_CASE("The list names what is alive at the cursor, and at the peak where there is none; its sum is the plot's") {
  application();
  const Prediction prediction = predict(small_scenario());
  Programs programs(prediction);
  SharedState state;
  HeldSource source(prediction.view, nullptr);
  state.set_shown(Obtained::simulated);
  const TimeRange step = *prediction.view->step_range(Obtained::simulated, 1);
  state.set_extent(prediction.view->extent(Obtained::simulated));
  state.set_visible(step);
  state.set_step(1);
  MemoryView view(state, source, &programs);
  view.resize(1280, 500);
  view.show();
  REQUIRE(wait_until([&] { return view.settled() && !view.picture().empty(); }));
  REQUIRE_FALSE(view.alive_area().isEmpty());
  REQUIRE_FALSE(view.alive().buffers.empty());
  CHECK(view.alive().device_bytes == device_sum(view.picture().peaks[0].bytes));
  std::set<std::size_t> counts;
  for (const double share : {0.1, 0.4, 0.9}) {
    const TimeRange seen = view.picture().range;
    const auto column = static_cast<std::size_t>(share * static_cast<double>(view.picture().columns.size()));
    state.set_cursor(seen.begin_ns + static_cast<std::int64_t>((static_cast<double>(column) + 0.5) /
                                                               static_cast<double>(view.picture().columns.size()) *
                                                               static_cast<double>(seen.length())));
    INFO(share);
    CHECK(view.alive().device_bytes == device_sum(view.picture().columns[column].bytes));
    counts.insert(view.alive().buffers.size());
  }
  CHECK(counts.size() > 1);
}

TEST_CASE("Every listed buffer shows its last op next to its name, without overlap") {
  application();
  const Prediction prediction = predict(small_scenario());
  Programs programs(prediction);
  SharedState state;
  HeldSource source(prediction.view, nullptr);
  state.set_shown(Obtained::simulated);
  state.set_extent(prediction.view->extent(Obtained::simulated));
  state.set_visible(*prediction.view->step_range(Obtained::simulated, 1));
  state.set_step(1);
  MemoryView view(state, source, &programs);
  for (const int width : {880, 1280}) {
    view.resize(width, 900);
    view.show();
    REQUIRE(wait_until([&] { return view.settled() && !view.picture().empty() && !view.alive().buffers.empty(); }));
    INFO(width);
    const QRectF area = view.alive_area();
    std::vector<PaintedText> names, ends;
    std::size_t left_out = 0;
    for (const PaintedText& text : painted_texts(view)) {
      if (!area.contains(text.box.center()) || text.box.top() < area.top() + 40) continue;
      if (text.words.startsWith("and "))
        left_out = text.words.section(QLatin1Char(' '), 1, 1).toUInt();
      else if (text.words.startsWith("until") || text.words == "always")
        ends.push_back(text);
      else if (text.box.left() < area.left() + 20)
        names.push_back(text);
    }
    REQUIRE(names.size() + left_out == view.alive().buffers.size());
    REQUIRE(ends.size() == names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      INFO(names[i].words.toStdString() << " | " << ends[i].words.toStdString());
      CHECK(names[i].box.right() <= ends[i].box.left());
    }
  }
}

TEST_CASE("The table in a file is every rank's peak, then the shown rank over time") {
  application();
  SharedState state;
  HeldSource source(one_step(Obtained::measured, 0), nullptr);
  MemoryView view(state, source);
  view.resize(900, 320);
  state.set_extent({0, 100 * us});
  state.set_visible({0, 100 * us});
  view.show();
  REQUIRE(wait_until([&] { return view.settled() && !view.picture().empty(); }));
  const ViewTable table = view.table();
  REQUIRE(table.rows.size() > 10);
  CHECK(table.rows[0][1] == "peak");
  const int sum = static_cast<int>(table.titles.size()) - 2;
  CHECK(table.rows[0][sum] == "1000");
  for (std::size_t i = 1; i < table.rows.size(); ++i) {
    const std::int64_t time = table.rows[i][1].toLongLong();
    if (time > 52 * us && time < 78 * us) CHECK(table.rows[i][sum] == "1000");
    if (time > 0 && time < 48 * us) CHECK(table.rows[i][sum] == "400");
  }
}
