// SPDX-License-Identifier: GPL-3.0-or-later
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>
#include <cmath>

#include "app/views/paths/optimizer_marker.hpp"
#include "app/views/paths/paths_view.hpp"
#include "engine/plan/optimizer_rule/rule.hpp"
#include "tests/app/models/no_run.hpp"
#include "tests/app/painted_text.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

/// The view with the engine behind it, shown, and with its first paths.
struct ShownPaths {
  SharedState state;
  NoRun source;
  PathCache cache;
  PathsView view;

  explicit ShownPaths(const QString& engine = QString::fromStdString(test::program("rankscope-engine")),
                      QSize size = {1280, 800})
      : cache((application(), [engine] { return engine; })), view(state, source, cache) {
    view.resize(size);
    view.show();
    settle();
  }
  void settle() {
    REQUIRE(wait_until([&] { return view.settled(); }));
    QTest::qWait(20);
    REQUIRE(wait_until([&] { return view.settled(); }));
  }
  QString cell(const std::string& optimizer, int column) {
    const std::vector<std::string> names = walking_optimizers();
    const auto row = std::find(names.begin(), names.end(), optimizer) - names.begin();
    return view.model().words(static_cast<int>(row), column);
  }
  QModelIndex index(const std::string& optimizer, int column) {
    const std::vector<std::string> names = walking_optimizers();
    return view.model().index(static_cast<int>(std::find(names.begin(), names.end(), optimizer) - names.begin()),
                              column);
  }
  bool contains(const QString& words) {
    QString all;  // a sentence may be painted in several lines
    for (const PaintedText& text : painted_texts(view)) all += text.words + QLatin1Char(' ');
    return all.simplified().contains(words);
  }
};

void choose(PathsView& view, const char* surface) {
  view.surfaces()->setCurrentIndex(view.surfaces()->findData(QString::fromLatin1(surface)));
}

}  // namespace

TEST_CASE("A surface is scaled to show its whole window, and pixels convert back to points") {
  const SurfaceWindow window{-4, 2, -1, 1};
  const QRectF area = GENERATE(QRectF(50, 20, 600, 600), QRectF(0, 0, 900, 100), QRectF(10, 10, 300, 100));
  const SurfaceScale scale = scale_for(window, area);
  for (const Point point : {Point{-4, -1}, Point{2, 1}, Point{0.5, 0.25}}) {
    CHECK(area.adjusted(-1e-6, -1e-6, 1e-6, 1e-6).contains(scale.at(point)));
    const Point back = scale.point_at(scale.at(point));
    CHECK(back.x == Approx(point.x));
    CHECK(back.y == Approx(point.y));
  }
  // Up is larger, and one axis is stretched against the other by a factor of two at most.
  CHECK(scale.at({0, 1}).y() < scale.at({0, -1}).y());
  const double x = scale.at({1, 0}).x() - scale.at({0, 0}).x(), y = scale.at({0, 0}).y() - scale.at({0, 1}).y();
  CHECK(std::max(x / y, y / x) < 2 + 1e-6);
}

TEST_CASE("Contours are at 1, 2, 5 and their decades, and the fill between them has one colour") {
  Surface plane = make_surface("ravine");
  plane.value = [](Point p) { return p.x; };  // its height is x: a contour of 2 is at x = 2
  plane.least = 0;
  plane.start = {1, 0};
  const SurfaceWindow window{1, 6, 0, 1};
  const Palette& colours = palette_of(Theme::light);
  const QImage image = compose_surface(plane, window, QSize(500, 20), 1, colours);
  const auto at = [&](double x) { return image.pixel(static_cast<int>((x - 1) * 100), 10); };
  const auto is_line = [&](double x) {
    const QRgb here = at(x), left = at(x - 0.2), right = at(x + 0.2);
    return qGray(here) < qGray(left) - 8 && qGray(here) < qGray(right) - 8;
  };
  CHECK(is_line(2));
  CHECK(is_line(5));
  CHECK_FALSE(is_line(3));
  CHECK_FALSE(is_line(4));
  CHECK(at(2.5) == at(4.5));
  CHECK(at(1.5) != at(2.5));
}

TEST_CASE("Optimizers differ in colour, also with colour blindness, and in shape") {
  const Palette& colours = palette_of(GENERATE(Theme::dark, Theme::light));
  std::set<Argb> seen;
  std::set<std::string> shapes;
  for (const std::string& name : walking_optimizers()) {
    CHECK(seen.insert(colour_of(name, colours)).second);
    QImage image(20, 20, QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    paint_mark(painter, {10, 10}, 8, name, 0xff000000, 0xff000000);
    painter.end();
    CHECK(shapes
              .insert(std::string(reinterpret_cast<const char*>(image.constBits()),
                                  static_cast<std::size_t>(image.sizeInBytes())))
              .second);
  }
}

TEST_CASE("The view shows the engine's own paths: on the ravine, with four optimizers ticked") {
  ShownPaths shown;
  PathsView& view = shown.view;
  REQUIRE(view.paths());
  CHECK(view.paths()->request.surface == "ravine");
  CHECK(view.paths()->each.size() == walking_optimizers().size());
  CHECK(view.model().drawn() == std::set<std::string>{"sgd", "momentum", "adagrad", "adam"});
  CHECK(view.player().step() == 100);
  CHECK(shown.cell("sgd", PathsModel::rate) == "0.09");
  CHECK(shown.cell("sgd", PathsModel::reached) == "from step 21");
  CHECK(shown.cell("adam", PathsModel::state) == "8");
  CHECK(shown.cell("sgd", PathsModel::state) == "0");
  CHECK(view.own_source().contains("no model is trained"));
  for (const char* words :
       {"start", "minimum", "x", "y", "contours", "Loss above the minimum", "step", "step 100 of 100"}) {
    INFO(words);
    CHECK(shown.contains(QString::fromLatin1(words)));
  }
  // One curve and one dot for each checked optimizer, and the current step.
  CHECK(view.plot().series.size() == 4 + 1 + 4);
  CHECK(view.plot().y.logarithmic);
  // A curve has the path's losses, to the end: none is cut off at a height of its own.
  const Plot plot = view.plot();
  for (const OptimizerPath& path : view.paths()->each)
    for (const PlotSeries& series : plot.series)
      if (series.name.toStdString() == path.optimizer) {
        REQUIRE(series.points.size() == path.losses.size());
        for (std::size_t t = 0; t < path.losses.size(); ++t) CHECK(series.points[t].y == path.losses[t]);
      }
  CHECK(plot.title == "Loss above the minimum, by step");
}

TEST_CASE("Keys step through the paths, and the table shows the position of each") {
  ShownPaths shown;
  PathsView& view = shown.view;
  QTest::keyClick(&view, Qt::Key_Home);
  CHECK(view.player().step() == 0);
  CHECK(shown.cell("sgd", PathsModel::loss) == "18");
  CHECK(shown.cell("sgd", PathsModel::last_step) == QString::fromUtf8("–"));
  QTest::keyClick(&view, Qt::Key_Period);
  CHECK(view.player().step() == 1);
  // (-4, 1) becomes (-4·0.91, 1 - 1.8): ½(3.64² + 20·0.8²) = 13.02.
  CHECK(shown.cell("sgd", PathsModel::loss) == "13");
  QTest::keyClick(&view.picture(), Qt::Key_Period);
  QTest::keyClick(&view.optimizers(), Qt::Key_Comma);
  CHECK(view.player().step() == 1);
  QTest::keyClick(&view, Qt::Key_End);
  CHECK(view.player().step() == 100);
  QTest::keyClick(&view, Qt::Key_Space);
  CHECK(view.player().playing());
  REQUIRE(wait_until([&] { return view.player().step() > 2; }));
  CHECK(view.player().step() < 100);  // from the beginning
  QTest::keyClick(&view, Qt::Key_Comma);
  CHECK_FALSE(view.player().playing());
}

TEST_CASE("A rate is typed in the table, and an invalid rate is refused") {
  ShownPaths shown;
  PathsView& view = shown.view;
  view.optimizers().setCurrentIndex(shown.index("sgd", PathsModel::rate));
  view.optimizers().edit(shown.index("sgd", PathsModel::rate));
  auto* line = view.optimizers().findChild<QLineEdit*>();
  REQUIRE(line != nullptr);
  line->setText("0.11");
  QTest::keyClick(line, Qt::Key_Return);
  shown.settle();
  CHECK(shown.cell("sgd", PathsModel::rate) == "0.11");
  // Beyond 2/κ = 0.1: it diverges, and the view states the step.
  CHECK(shown.cell("sgd", PathsModel::reached).startsWith("diverged, "));
  CHECK(view.paths()->of("sgd")->diverged.has_value());
  CHECK(shown.contains("diverged, "));
  CHECK(shown.contains("sgd, beyond"));
  for (const char* bad : {"fast", "0", "-1", ""})
    CHECK_FALSE(view.model().setData(shown.index("sgd", PathsModel::rate), QString::fromLatin1(bad), Qt::EditRole));
  CHECK(view.request().rates.at("sgd") == 0.11);
  view.reset_button()->click();
  shown.settle();
  CHECK(shown.cell("sgd", PathsModel::rate) == "0.09");
}

TEST_CASE("Surface, condition number, steps, noise and start are passed to the engine, separately for each surface") {
  ShownPaths shown;
  PathsView& view = shown.view;
  view.condition()->setValue(200);
  view.steps()->setValue(40);
  shown.settle();
  CHECK(view.paths()->request.condition == 200);
  CHECK(view.paths()->of("sgd")->rate == Approx(1.8 / 200));
  CHECK(view.player().steps() == 40);
  CHECK(view.player().step() == 40);  // a player at the end moves to the new end
  choose(view, "saddle");
  shown.settle();
  CHECK(view.paths()->request.surface == "saddle");
  CHECK(view.player().steps() == 120);
  CHECK(shown.contains("saddle"));
  CHECK_FALSE(view.condition()->isVisible());
  view.noise()->setValue(0.5);
  shown.settle();
  CHECK(view.paths()->request.noise == 0.5);
  const SurfaceScale scale = view.picture().scale();
  QTest::mouseDClick(&view.picture(), Qt::LeftButton, {}, scale.at({-0.5, 0.25}).toPoint());
  shown.settle();
  CHECK(view.paths()->request.start->x == Approx(-0.5).margin(0.02));
  CHECK(view.paths()->request.start->y == Approx(0.25).margin(0.02));
  choose(view, "ravine");
  shown.settle();
  CHECK(view.paths()->request.condition == 200);
  CHECK(view.paths()->request.noise == 0);
}

TEST_CASE("A repeated request is answered from the cache, and a pending request keeps the old paths visible") {
  ShownPaths shown;
  PathsView& view = shown.view;
  const auto ravine = view.paths();
  choose(view, "beale");
  CHECK(view.paths() == ravine);
  shown.settle();
  CHECK(view.paths()->request.surface == "beale");
  choose(view, "ravine");
  CHECK(view.paths() == ravine);
}

TEST_CASE("Check boxes choose which paths are drawn; without any the view says so") {
  ShownPaths shown;
  PathsView& view = shown.view;
  CHECK(view.model().setData(shown.index("sophia", PathsModel::optimizer), Qt::Checked, Qt::CheckStateRole));
  CHECK(view.model().drawn().count("sophia") == 1);
  CHECK(shown.contains("sophia"));
  view.model().set_drawn({});
  CHECK(shown.contains("No optimizer is ticked"));
  CHECK(view.table().rows.empty());
  view.model().set_drawn({"adam"});
  CHECK(view.table().rows.size() == 101);
  CHECK(view.table().rows[0] == QStringList{"adam", "0.1", "0", "-4", "1", "18"});
}

TEST_CASE("The view reports a missing engine, or one that refuses") {
  ShownPaths none{QString()};
  CHECK_FALSE(none.view.paths());
  CHECK(none.contains("No paths"));
  CHECK(none.contains("rankscope-engine is neither in the folder of this program nor on PATH."));
  ShownPaths refused;
  refused.view.show_request({.surface = "ravine", .settings = {"momentum=2"}});
  refused.settle();
  CHECK_FALSE(refused.view.paths());
  CHECK(refused.contains("less than 1"));
  choose(refused.view, "saddle");
  refused.settle();
  CHECK(refused.view.paths());
}

TEST_CASE("While a question about it is open the view shows nothing") {
  ShownPaths shown;
  shown.view.set_veiled(true);
  CHECK(shown.contains("Hidden until you answer the questions on the left."));
  CHECK_FALSE(shown.contains("momentum"));
  CHECK_FALSE(shown.contains("minimum"));
  CHECK(shown.view.table().rows.empty());
  shown.view.set_veiled(false);
  CHECK(shown.contains("momentum"));
}

TEST_CASE("The paths of a lesson are shown: its surface, its rates, and only its optimizers") {
  ShownPaths shown;
  shown.view.show_request({.surface = "ravine", .condition = 40, .optimizers = {"sgd"}, .rates = {{"sgd", 0.04}}});
  shown.settle();
  CHECK(shown.view.model().drawn() == std::set<std::string>{"sgd"});
  CHECK(shown.view.condition()->value() == 40);
  CHECK(shown.cell("sgd", PathsModel::rate) == "0.04");
  CHECK(shown.view.paths()->each.size() == walking_optimizers().size());  // the others are listed, unchecked
}

TEST_CASE("Nothing is cut or overlaps at any size of the view") {
  const QSize size = GENERATE(QSize(1920, 1080), QSize(1024, 640), QSize(690, 300), QSize(460, 260));
  ShownPaths shown(QString::fromStdString(test::program("rankscope-engine")), size);
  PathsView& view = shown.view;
  choose(view, "rosenbrock");
  shown.settle();
  INFO(size.width() << " x " << size.height());
  const QRectF plot = view.plot_area();
  const QRect picture = view.picture().geometry(), table = view.optimizers().geometry();
  CHECK(view.rect().contains(picture));
  if (view.optimizers().isVisible()) {
    CHECK(view.rect().contains(table));
    CHECK_FALSE(picture.intersects(table));
    CHECK_FALSE(plot.intersects(QRectF(table)));
    CHECK_FALSE(plot.intersects(QRectF(picture)));
    int columns = 0;
    for (int column = 0; column < PathsModel::column_count; ++column)
      if (!view.optimizers().isColumnHidden(column)) columns += view.optimizers().columnWidth(column);
    CHECK(columns <= table.width());
    CHECK_FALSE(view.optimizers().isColumnHidden(PathsModel::rate));
    CHECK_FALSE(view.optimizers().isColumnHidden(PathsModel::loss));
  }
  if (view.player().isVisible()) {
    CHECK(view.rect().contains(view.player().geometry()));
    CHECK_FALSE(picture.intersects(view.player().geometry()));
  }
  for (const PaintedText& text : painted_texts(view)) {
    INFO(text.words.toStdString());
    CHECK(text.box.left() >= 0);
    CHECK(text.box.right() <= size.width() + 1);
    // A row that the table scrolls to begins exactly at the edge.
    CHECK((text.box.bottom() <= size.height() + 1 || text.box.top() >= size.height() - 14));
  }
}
