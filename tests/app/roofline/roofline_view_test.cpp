// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/roofline/roofline_view.hpp"

#include "app/views/common/text.hpp"
#include "tests/app/session/shown_view.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

struct ShownRoofline : ShownView<RooflineView> {
  void open(const QByteArray& cluster = "spec = \"laptop\"\n") {
    ShownView::open(
        "title = \"two stages\"\n[model]\nlayers = 4\nwidth = 64\nheads = 2\ncontext = 32\nvocabulary = 128\n"
        "[plan]\npipeline = 2\nmicro_batches = 4\n[train]\nglobal_batch = 8\n[cluster]\n" +
        cluster);
  }
};

}  // namespace

TEST_CASE("a prediction's kernels are rings under the roof of the cluster's file") {
  ShownRoofline shown;
  CHECK(shown.view.picture().empty());
  CHECK(shown.view.picture().missing.contains("Open a scenario"));
  shown.open();
  REQUIRE(wait_until([&] { return !shown.view.picture().empty(); }));
  const RooflinePicture& picture = shown.view.picture();
  CHECK(picture.ran.empty());
  CHECK(picture.roof.flops == 60.8e9);
  CHECK(picture.roof.bandwidth == 8.5e9);
  CHECK(picture.roof_words.contains("60.8"));
  CHECK_FALSE(has_measured_roof(shown.session));
  // Forward and backward of qkv, attention, projection, up, down and head; the embedding computes nothing.
  CHECK(picture.predicted.size() >= 12);
  CHECK(shown.view.rows().rowCount() == static_cast<int>(picture.predicted.size()));
  const Plot& plot = shown.view.chart().plot();
  CHECK(plot.title.contains("simulated"));
  CHECK(plot.x.logarithmic);
  CHECK(plot.y.logarithmic);
  REQUIRE(plot.series.size() >= 3);
  CHECK(plot.series[0].points.size() == 3);
  CHECK(plot.series[0].points[1].x == Approx(60.8 / 8.5));
  for (std::size_t i = 1; i < plot.series.size(); ++i) {
    CHECK(plot.series[i].mark == PlotSeries::Mark::rings);
    for (const PlotPoint& point : plot.series[i].points) CHECK(point.y <= picture.roof.at(point.x) * (1 + 1e-6));
  }
}

TEST_CASE("without a launch's cost every predicted kernel lies on the roof") {
  ShownRoofline shown;
  shown.open("spec = \"laptop\"\nop_overhead_s = 0\n");
  REQUIRE(wait_until([&] { return !shown.view.picture().empty(); }));
  const RooflinePicture& picture = shown.view.picture();
  for (const RooflinePoint& point : picture.predicted) {
    INFO(op_name(point).toStdString() << " " << point.intensity());
    CHECK(point.rate() == Approx(picture.roof.at(point.intensity())).epsilon(0.01));
  }
}

TEST_CASE("the roofline's table for a file has every kind of op with its FLOPs and bytes") {
  ShownRoofline shown;
  shown.open();
  REQUIRE(wait_until([&] { return !shown.view.picture().empty(); }));
  const ViewTable table = shown.view.table();
  REQUIRE(table.rows.size() == shown.view.picture().predicted.size());
  for (const QStringList& row : table.rows) {
    REQUIRE(row.size() == table.titles.size());
    CHECK(row[1] == "simulated");
    CHECK(row[5].toDouble() == Approx(row[3].toDouble() / row[4].toDouble()));
    CHECK(row[7].toDouble() == Approx(row[3].toDouble() / row[6].toDouble()));
  }
}

TEST_CASE("measured kernels are dots, under the measured peak of the machine or the cluster's") {
  RooflinePicture picture;
  picture.roof = {100e9, 10e9};
  picture.ran_name = "emulated";
  picture.ran = {{OpKind::forward, Segment::up, 4e6, 2e5, 1e-4, 1e-3, 10}};
  picture.predicted = {{OpKind::forward, Segment::up, 4e6, 2e5, 5e-5, 5e-4, 10}};
  const Plot plot = roofline_plot(picture, palette_of(Theme::light));
  REQUIRE(plot.series.size() == 3);
  CHECK(plot.series[1].mark == PlotSeries::Mark::rings);
  CHECK(plot.series[2].mark == PlotSeries::Mark::dots);
  CHECK(plot.series[1].name.isEmpty());
  CHECK(plot.series[2].name == "forward");
  CHECK(plot.title.contains("dots emulated, rings simulated"));
  CHECK(plot.series[2].points[0].x == 20);
  CHECK(plot.series[2].points[0].y == Approx(40e9));
  CHECK(plot.series[2].points[0].help.contains("emulated"));
  // 20 FLOP per byte is right of the ridge at 10: 40 of 100 GFLOP/s.
  const auto rows = roofline_rows(picture);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0][0].words == "forward up");
  CHECK(rows[0][3].words == text::percent(0.4));
  CHECK(rows[0][4].words == "arithmetic");
  picture.ran[0].bytes = 4e6;  // 1 FLOP per byte: the roof is at 10 GFLOP/s, and a cache is faster
  CHECK(roofline_rows(picture)[0][4].words == "memory");
  CHECK(roofline_plot(picture, palette_of(Theme::light)).series[2].points[0].help.contains("in cache"));
  CHECK(roofline_table(picture).rows.size() == 2);
}
