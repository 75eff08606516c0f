// SPDX-License-Identifier: GPL-3.0-or-later
#include <QLabel>
#include <QPainter>
#include <QTableView>
#include <QTest>

#include "app/views/validation/validation_rows.hpp"
#include "app/views/validation/validation_view.hpp"
#include "tests/app/models/no_run.hpp"
#include "tests/app/painted_text.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

/// With spaces that may break.
QString plain(QString words) { return words.replace(QChar::Nbsp, QLatin1Char(' ')); }

ValidatedTable known_table() {
  ValidatedTable table;
  table.title = "known";
  table.unit = "us";
  table.rows = {
      {"exact", 10, 10, 10, false}, {"twice", 10, 20, 20, false}, {"open", 10, 8, 9, false}, {"fit", 5, 5, 5, true}};
  return table;
}

}  // namespace

TEST_CASE("Rows state their errors, which are open and which were used to fit constants") {
  const auto rows = validated_rows(known_table());
  REQUIRE(rows.size() == 4);
  CHECK(plain(rows[0][3].words) == "+0.0 %");
  CHECK(rows[0][3].tone == Tone::good);
  CHECK(plain(rows[1][3].words) == "+100.0 %");
  CHECK(rows[1][3].tone == Tone::bad);
  CHECK(rows[2][3].words.startsWith(QChar(0x2212)));  // 9 of 10, the nearest that the source allows
  CHECK(plain(rows[2][3].words).contains("10.0 %"));
  CHECK(rows[2][0].words.contains("8.00 to 9.00"));
  CHECK(rows[3][0].words.contains("fitted to"));
  CHECK(rows[3][3].tone == Tone::dim);
  ValidatedTable open = known_table();
  CHECK_FALSE(error_words(open).contains("Held out"));
  open.held_out = true;
  open.judged = false;
  CHECK(error_words(open).startsWith("Held out"));
  CHECK(error_words(open).contains("Shown only"));
  CHECK(validated_titles(known_table())[1] == QString::fromUtf8("published, µs"));
}

TEST_CASE("A fitted row is a ring, and equality is the diagonal") {
  const Plot plot = plot_of(known_table(), palette_of(Theme::light));
  REQUIRE(plot.series.size() == 3);
  CHECK(plot.series[1].points.size() == 3);
  CHECK(plot.series[2].mark == PlotSeries::Mark::rings);
  CHECK(plot.series[2].points.size() == 1);
  const PlotScale scale = scale_of(plot, QRectF(0, 0, 400, 300));
  const QPointF low = scale.at(5, 5), high = scale.at(20, 20), middle = scale.at(10, 10);
  // Both axes are logarithmic: 10 is halfway from 5 to 20.
  CHECK(middle.x() == Approx((low.x() + high.x()) / 2));
  CHECK(middle.y() == Approx((low.y() + high.y()) / 2));
}

TEST_CASE("Ticks are round numbers, and fewer in a small plot") {
  CHECK(ticks_of(0, 1, false, 5) == std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1});
  CHECK(ticks_of(1, 100, true, 10) == std::vector<double>{1, 2, 5, 10, 20, 50, 100});
  CHECK(ticks_of(1, 1000, true, 4) == std::vector<double>{1, 10, 100, 1000});
  CHECK(ticks_of(-1, 10, true, 4).empty());
  // Of 1, 2, 5, … only 20 and 50 are in that range.
  CHECK(ticks_of(15, 56, true, 12) == std::vector<double>{20, 30, 40, 50});
  CHECK(ticks_of(11, 19, true, 2) == std::vector<double>{15});
  CHECK(ticks_of(40, 205, true, 2) == std::vector<double>{100, 200});  // 50, 100 and 200 would be too dense
}

TEST_CASE("A tick beyond its axis is not painted, and an axis' name has its own space") {
  application();
  Plot plot;
  plot.x = {true, {}, {}, {}, {1, 4, 64}, {}};
  plot.series = {{"a", PlotSeries::Mark::line, 0xff0000ff, {{1, 1, 0, 0, {}}, {4, 2, 0, 0, {}}}}};
  const QRectF area(0, 0, 300, 200);
  const PlotScale bare = scale_of(plot, area);
  plot.x.name = "ranks";
  plot.y.name = "tokens / s";
  const PlotScale named = scale_of(plot, area);
  CHECK(named.inner.bottom() < bare.inner.bottom());
  CHECK(named.inner.left() > bare.inner.left());
  PlotChart chart;
  chart.resize(300, 200);
  chart.set_theme(Theme::light);
  chart.show_plot(plot);
  chart.show();
  QStringList words;
  for (const PaintedText& text : painted_texts(chart)) {
    words << text.words;
    INFO(text.words.toStdString());
    CHECK(text.box.right() <= 300);
    CHECK(text.box.left() >= 0);
    CHECK(text.box.bottom() <= 200);
  }
  CHECK(words.contains("4"));
  CHECK(words.contains("ranks"));
  CHECK(words.contains("tokens / s"));
  CHECK_FALSE(words.contains("64"));
}

TEST_CASE("A lesson's link chooses its table, also before the tables are known") {
  application();
  SharedState state;
  NoRun source;
  ValidationView view(state, source);
  view.resize(1280, 800);
  view.show_inputs({{"table", "bloom"}});
  view.show();
  REQUIRE(wait_until([&] { return view.settled() && view.tables().rowCount() > 0; }));
  CHECK(view.words().contains("bigscience"));
  view.show_inputs({{"table", "megatron-2019-scaling"}});
  CHECK(view.words().contains("Shoeybi"));
  view.show_inputs({});
  CHECK(view.words().contains("Shoeybi"));
}

TEST_CASE("Every published table is listed with its error, and the keys choose one") {
  application();
  SharedState state;
  NoRun source;
  ValidationView view(state, source);
  const QSize size = GENERATE(QSize(1280, 800), QSize(1040, 560));
  view.resize(size);
  view.show();
  REQUIRE(wait_until([&] { return view.settled() && view.tables().rowCount() > 0; }));
  const auto published = read_all_published();
  REQUIRE(view.tables().rowCount() == static_cast<int>(published.size()));
  CHECK(view.rows().rowCount() == static_cast<int>(published.front().rows.size()));
  CHECK(view.words().contains(QString::fromStdString(published.front().source)));
  QTableView* list = nullptr;
  for (QTableView* table : view.findChildren<QTableView*>())
    if (table->accessibleName() == "Published tables") list = table;
  REQUIRE(list != nullptr);
  list->setFocus();
  QTest::keyClick(list, Qt::Key_Down);
  CHECK(view.rows().rowCount() == static_cast<int>(published[1].rows.size()));
  CHECK(view.words().contains(QString::fromStdString(published[1].source)));
  // The origin of sources and constants is shown completely, and no name is cut.
  for (QLabel* label : view.findChildren<QLabel*>()) CHECK(label->height() >= label->heightForWidth(label->width()));
  for (int row = 0; row < view.tables().rowCount(); ++row) {
    const QRect cell = list->visualRect(view.tables().index(row, 0));
    const QRect words =
        list->fontMetrics().boundingRect(cell.adjusted(11, 2, -11, -2), Qt::TextWordWrap, view.tables().words(row, 0));
    INFO(view.tables().words(row, 0).toStdString());
    CHECK(words.height() <= cell.height());
    CHECK(words.width() <= cell.width());
  }
  // With any number of tables, a picture has its place, and no part of it is under them.
  CHECK(view.plot_area().height() > 140);
  for (QTableView* table : view.findChildren<QTableView*>())
    CHECK_FALSE(QRectF(table->geometry()).intersects(view.plot_area()));
}
