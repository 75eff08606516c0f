// SPDX-License-Identifier: GPL-3.0-or-later
#include <QGraphicsTextItem>
#include <QGraphicsView>
#include <QMouseEvent>
#include <QWindow>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/views/common/text.hpp"
#include "app/views/training/curve_chart.hpp"
#include "app/views/training/training_view.hpp"
#include "kernels/tensor/magnitude.hpp"
#include "telemetry/event/event_sender.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/app/session/sources.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

/// One rank, whose step of 0.1 s has 20 million FLOPs, half as many again with recomputation, on a device of 1 GFLOP/s.
class KnownSource : public SnapshotSource {
 public:
  KnownSource() {
    EventSender filler(store_);
    Hello hello;
    hello.ranks = 1;
    hello.peak_flops = 1e9;
    filler.add(0, hello);
    StepSummary summary;
    summary.learning_rate = 0.002;
    summary.loss_scale = 512;
    summary.model_flops = 2e7;
    summary.hardware_flops = 3e7;
    filler.add(0, summary);
  }
  std::shared_ptr<const StoreView> view() const override { return store_.view(); }

 private:
  RunStore store_;
};

std::vector<CurvePoint> wave(int count) {
  std::vector<CurvePoint> points;
  for (int i = 0; i < count; ++i) points.push_back({static_cast<double>(i), std::sin(i * 0.01)});
  return points;
}

/// Qt Charts cuts labels and titles that have no space.
bool has_cut_label(const CurveChart& chart) {
  const QList<QGraphicsItem*> items = chart.findChild<QGraphicsView*>()->scene()->items();
  return std::any_of(items.begin(), items.end(), [](const QGraphicsItem* item) {
    const auto* text = qgraphicsitem_cast<const QGraphicsTextItem*>(item);
    return text != nullptr && text->isVisible() && text->toPlainText().contains(QStringLiteral("..."));
  });
}

}  // namespace

TEST_CASE("A curve has at most two points a pixel, in order, and keeps its peaks") {
  auto points = wave(100'000);
  points[54'321].y = 9;
  points[77'777].y = -9;
  const auto kept = decimated(points, 300);
  CHECK(kept.size() <= 600);
  CHECK(std::is_sorted(kept.begin(), kept.end(), [](auto a, auto b) { return a.x < b.x; }));
  CHECK(std::count(kept.begin(), kept.end(), points[54'321]) == 1);
  CHECK(std::count(kept.begin(), kept.end(), points[77'777]) == 1);
}

TEST_CASE("A short curve stays as it is, with the points that are not known") {
  const auto kept = decimated({{0, 1}, {1, std::nan("")}, {2, 3}}, 100);
  REQUIRE(kept.size() == 3);
  CHECK(kept[0] == CurvePoint{0, 1});
  CHECK(std::isnan(kept[1].y));
  CHECK(kept[2] == CurvePoint{2, 3});
  CHECK(decimated({}, 100).empty());
}

TEST_CASE("A long curve keeps a gap that is wider than a pixel, and loses no value beside one that is not") {
  auto points = wave(100'000);  // 1000 per pixel
  for (int i = 40'000; i < 43'000; ++i) points[static_cast<std::size_t>(i)].y = std::nan("");
  points[70'500].y = std::nan("");
  const auto kept = decimated(points, 100);
  CHECK(kept.size() <= 200);
  std::vector<double> unknown;
  for (const CurvePoint& point : kept)
    if (!std::isfinite(point.y)) unknown.push_back(point.x);
  REQUIRE(unknown.size() >= 2);
  CHECK(unknown.front() >= 40'000);
  CHECK(unknown.back() < 43'000);
}

TEST_CASE("The training view draws the report's steps") {
  application();
  SharedState state;
  EmptySource source;
  FiguresModel figures;
  TrainingView view(state, source, figures);
  view.resize(900, 300);
  view.show();
  CHECK(view.chart(Curve::loss).points().isEmpty());
  auto latest = std::make_shared<Figures>();
  latest->run.emplace();
  for (std::uint32_t i = 0; i < 3; ++i) latest->run->steps.push_back({i, 5.0 - i, 1.0 + i, 0.1, 1000.0});
  figures.set(latest);
  REQUIRE(wait_until([&] { return view.chart(Curve::loss).points().size() == 3; }));
  CHECK(view.chart(Curve::loss).points().at(2) == QPointF(2, 3));
  CHECK(view.chart(Curve::gradient_norm).points().at(1) == QPointF(1, 2));
  CHECK(view.chart(Curve::tokens_per_s).points().at(0) == QPointF(0, 1000));
  CHECK(view.table().rows.size() == 3);
  view.set_veiled(true);
  CHECK_FALSE(view.chart(Curve::loss).isVisible());
  CHECK(view.table().rows.empty());
  view.set_veiled(false);
  CHECK(view.chart(Curve::loss).isVisible());
}

TEST_CASE("Gradients by magnitude are those of the chosen step, or of the last one before it that counted them") {
  application();
  SharedState state;
  EmptySource source;
  FiguresModel figures;
  TrainingView view(state, source, figures);
  view.resize(900, 600);
  view.show();
  CHECK_FALSE(view.magnitudes().isVisible());
  const auto counts = [](int exponent) {
    auto made = std::make_shared<std::vector<std::int64_t>>(magnitude_bins);
    (*made)[zero_bin] = 10;
    (*made)[static_cast<std::size_t>(bin_of_exponent(exponent))] = 80;
    (*made)[static_cast<std::size_t>(bin_of_exponent(16))] = 10;
    return made;
  };
  auto latest = std::make_shared<Figures>();
  latest->run.emplace();
  for (std::uint32_t i = 0; i < 8; ++i) {
    StepRow& row = latest->run->steps.emplace_back();
    row.step = i;
    row.loss = 3;
    row.loss_scale = 1024;
    if (i % 3 == 0) row.magnitudes = counts(-30 + static_cast<int>(i));
  }
  figures.set(latest);
  const MagnitudeChart& chart = view.magnitudes();
  REQUIRE(wait_until([&] { return chart.isVisible(); }));
  CHECK(chart.data().step == 6);
  CHECK(chart.data().loss_scale == 1024);
  CHECK(chart.shares()[static_cast<std::size_t>(-24 - MagnitudeChart::first_shown)] == Approx(0.8));
  CHECK(chart.shares().back() + chart.shares()[chart.shares().size() - 2] == Approx(0.1));
  CHECK(chart.note() ==
        QString("step 6: %1 below the fp16 range, %2 above it").arg(text::percent(0), text::percent(0.1)));
  state.set_step(4);
  CHECK(chart.data().step == 3);
  CHECK(chart.note() ==
        QString("step 3: %1 below the fp16 range, %2 above it").arg(text::percent(0.8), text::percent(0.1)));
  // All powers of two have the same width, and the range is at its numbers.
  CHECK(MagnitudeChart::place_of(MagnitudeChart::first_shown, 580) == 0);
  CHECK(MagnitudeChart::place_of(-30, 580) == Approx(100));
  CHECK(MagnitudeChart::place_of(MagnitudeChart::last_shown + 1, 580) == Approx(580));
  view.set_veiled(true);
  CHECK_FALSE(chart.isVisible());
}

TEST_CASE("MFU is the model's FLOPs over the peak, HFU with recomputation, and both are saved with the learning rate") {
  application();
  SharedState state;
  KnownSource source;
  FiguresModel figures;
  TrainingView view(state, source, figures);
  view.resize(1280, 400);
  view.show();
  auto latest = std::make_shared<Figures>();
  latest->run.emplace();
  latest->run->ranks = 1;
  latest->totals = source.view()->totals();
  latest->run->steps.push_back({0, 5.0, 1.0, 0.1, 1000.0});
  figures.set(latest);
  REQUIRE(wait_until([&] { return view.chart(Curve::mfu).points().size() == 1; }));
  CHECK(view.chart(Curve::mfu).points().at(0).y() == Approx(20));
  CHECK(view.chart(Curve::learning_rate).points().at(0).y() == Approx(0.002));
  CHECK(view.chart(Curve::loss_scale).points().at(0).y() == Approx(512));
  const ViewTable table = view.table();
  REQUIRE(table.rows.size() == 1);
  REQUIRE(table.rows[0].size() == table.titles.size());
  CHECK(table.titles.last().startsWith("HFU"));
  CHECK(table.rows[0].last().toDouble() == Approx(30));
}

TEST_CASE("Power is drawn if it was measured, with its source and the prediction under it") {
  application();
  SharedState state;
  KnownSource source;
  FiguresModel figures;
  TrainingView view(state, source, figures);
  view.resize(1280, 700);
  view.show();
  auto latest = std::make_shared<Figures>();
  latest->run.emplace();
  latest->run->ranks = 1;
  for (std::uint32_t i = 0; i < 3; ++i) latest->run->steps.push_back({i, 5.0, 1.0, 0.1, 1000.0});
  figures.set(latest);
  REQUIRE(wait_until([&] { return view.chart(Curve::loss).points().size() == 3; }));
  CHECK_FALSE(view.chart(Curve::power).isVisibleTo(&view));
  latest = std::make_shared<Figures>(*latest);
  for (StepRow& row : latest->run->steps) row.watts = 400;
  latest->run->energy.source = PowerSource::nvml;
  latest->run->energy.counters = 2;
  latest->run->energy.predicted_watts = 900;
  figures.set(latest);
  REQUIRE(wait_until([&] { return view.chart(Curve::power).points().size() == 3; }));
  CHECK(view.chart(Curve::power).isVisibleTo(&view));
  CHECK(view.chart(Curve::power).points().at(1).y() == 400);
  CHECK(view.chart(Curve::power).note().contains(QStringLiteral("2 GPUs, by NVML; dashed: predicted, 900")));
  CHECK(view.chart(Curve::power).value_labels().last().toDouble() > 450);  // as high as the prediction
  const ViewTable table = view.table();
  CHECK(table.rows[0][table.titles.indexOf(QStringLiteral("power, W"))].toDouble() == 400);
}

TEST_CASE("A curve breaks at steps without a value and at steps that are not there") {
  application();
  SharedState state;
  EmptySource source;
  FiguresModel figures;
  TrainingView view(state, source, figures);
  view.resize(900, 300);
  view.show();
  auto latest = std::make_shared<Figures>();
  latest->run.emplace();
  for (const std::uint32_t step : {0u, 1u, 2u, 3u, 7u, 8u})
    latest->run->steps.push_back({step, step == 2 ? std::nan("") : 5.0 - step, 1.0 + step, 0.1, 1000.0});
  figures.set(latest);
  REQUIRE(wait_until([&] { return view.chart(Curve::loss).points().size() == 5; }));
  using Piece = QList<QPointF>;
  CHECK(view.chart(Curve::loss).pieces() == QList<Piece>{{{0, 5}, {1, 4}}, {{3, 2}}, {{7, -2}, {8, -3}}});
  CHECK(view.chart(Curve::gradient_norm).pieces().size() == 2);
  // A gap is filled when its steps arrive.
  latest = std::make_shared<Figures>(*latest);
  latest->run->steps.clear();
  for (std::uint32_t step = 0; step < 9; ++step) latest->run->steps.push_back({step, 5.0 - step, 1.0, 0.1, 1000.0});
  figures.set(latest);
  REQUIRE(wait_until([&] { return view.chart(Curve::loss).points().size() == 9; }));
  CHECK(view.chart(Curve::loss).pieces().size() == 1);
}

TEST_CASE("A power of zero has valid ticks") {
  application();
  SharedState state;
  EmptySource source;
  FiguresModel figures;
  TrainingView view(state, source, figures);
  view.resize(900, 600);
  view.show();
  auto latest = std::make_shared<Figures>();
  latest->run.emplace();
  for (std::uint32_t i = 0; i < 3; ++i) latest->run->steps.push_back({i, 5.0, 1.0, 0.1, 1000.0});
  for (StepRow& row : latest->run->steps) row.watts = 0;
  figures.set(latest);
  REQUIRE(wait_until([&] { return view.chart(Curve::power).points().size() == 3; }));
  const QStringList labels = view.chart(Curve::power).value_labels();
  CHECK(labels.first() == QStringLiteral("0"));
  CHECK(labels.last() == QStringLiteral("1"));
}

TEST_CASE("Charts fill their lines: no cell is empty, and no line has two more than another") {
  CHECK(line_lengths(1, 1) == std::vector<int>{1});
  CHECK(line_lengths(5, 2) == std::vector<int>{1, 2, 2});
  CHECK(line_lengths(5, 5) == std::vector<int>{5});
  CHECK(line_lengths(7, 3) == std::vector<int>{2, 2, 3});
  for (int charts = 1; charts <= static_cast<int>(curve_count) + 1; ++charts)
    for (int columns = 1; columns <= charts; ++columns) {
      INFO(charts << " charts, " << columns << " columns");
      const std::vector<int> lines = line_lengths(charts, columns);
      CHECK(std::accumulate(lines.begin(), lines.end(), 0) == charts);
      CHECK(lines.back() <= columns);
      CHECK(lines.back() - lines.front() <= 1);
      CHECK(std::is_sorted(lines.begin(), lines.end()));
    }
}

TEST_CASE("Every curve that is known is drawn, however low the view is, with two ticks at least and none of them cut") {
  application();
  SharedState state;
  KnownSource source;
  FiguresModel figures;
  TrainingView view(state, source, figures);
  auto latest = std::make_shared<Figures>();
  latest->run.emplace();
  latest->run->ranks = 1;
  latest->totals = source.view()->totals();
  for (std::uint32_t i = 0; i < 30; ++i)
    latest->run->steps.push_back({i, 5.5 - 0.1 * i, 1.0 + i % 3, 0.1, 43000.0 + 700 * (i % 2)});
  figures.set(latest);
  for (const QSize size : {QSize(660, 170), QSize(660, 300), QSize(1280, 760), QSize(1900, 200)}) {
    view.resize(size);
    view.show();
    REQUIRE(wait_until([&] { return view.chart(Curve::loss).points().size() == 30; }));
    qApp->processEvents();
    for (const Curve curve : {Curve::loss, Curve::gradient_norm, Curve::learning_rate, Curve::loss_scale,
                              Curve::tokens_per_s, Curve::mfu}) {
      const CurveChart& chart = view.chart(curve);
      INFO(size.width() << " x " << size.height() << ", curve " << static_cast<int>(curve));
      CHECK(chart.isVisibleTo(&view));
      CHECK(chart.width() >= 230);
      CHECK(chart.height() >= 120);
      CHECK(chart.value_labels().size() >= 2);
      CHECK(wait_until([&] { return !has_cut_label(chart); }));
    }
    // For any shape, the last chart of a line ends at the view's edge.
    int right = 0, bottom = 0;
    for (std::size_t c = 0; c < curve_count; ++c) {
      const CurveChart& chart = view.chart(static_cast<Curve>(c));
      if (!chart.isVisibleTo(&view)) continue;
      right = std::max(right, chart.geometry().right());
      bottom = std::max(bottom, chart.geometry().bottom());
    }
    int last = 0;
    for (std::size_t c = 0; c < curve_count; ++c)
      if (const CurveChart& chart = view.chart(static_cast<Curve>(c)); chart.isVisibleTo(&view))
        if (chart.geometry().bottom() == bottom) last = std::max(last, chart.geometry().right());
    CHECK(last == right);
  }
  CHECK(view.chart(Curve::tokens_per_s).value_labels().contains(QStringLiteral("20,000")));
}

TEST_CASE("A mouse button is pressed on a chart and released after the chart has changed") {
  application();
  CurveChart chart("loss", false, nullptr);
  chart.set_colours(palette_of(Theme::light), 0xff0000ff, 0xff888888);
  chart.resize(300, 200);
  int step = 2;
  const auto change = [&] {
    CurveData data;
    for (int i = 0; i < step; ++i) data.points.push_back({static_cast<double>(i), static_cast<double>(i * step)});
    step = step == 2 ? 900 : 2;
    chart.show_data(data);
  };
  change();
  chart.show();
  QWindow* const window = chart.windowHandle();
  REQUIRE(window != nullptr);
  const auto mouse = [&](QEvent::Type type, QPoint at) {
    const Qt::MouseButton button = Qt::LeftButton;
    QMouseEvent event(type, at, window->mapToGlobal(at), button,
                      type == QEvent::MouseButtonPress ? Qt::MouseButtons(button) : Qt::NoButton, Qt::NoModifier);
    QCoreApplication::sendEvent(window, &event);
  };
  for (int x = 5; x < chart.width(); x += 10)
    for (int y = 5; y < chart.height(); y += 10) {
      mouse(QEvent::MouseButtonPress, {x, y});
      change();
      mouse(QEvent::MouseButtonRelease, {x, y});
    }
  CHECK(chart.filled());
}
