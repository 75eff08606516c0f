// SPDX-License-Identifier: GPL-3.0-or-later
#include <QPixmap>
#include <QTableView>
#include <QTest>
#include <cmath>
#include <numeric>

#include "app/views/common/style.hpp"
#include "app/views/grid/grid_view.hpp"
#include "engine/explain/facts/facts.hpp"
#include "tests/app/painted_text.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/app/session/sources.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

/// data 2 × pipeline 2; rank r computes (r + 1) · 20 % of its step.
std::shared_ptr<Figures> four_ranks() {
  auto figures = std::make_shared<Figures>();
  figures->run.emplace();
  figures->run->ranks = 4;
  figures->run->plan.data = 2;
  figures->run->plan.pipeline = 2;
  figures->step.emplace();
  for (int rank = 0; rank < 4; ++rank) {
    StepShares shares;
    shares[TimeClass::compute] = (rank + 1) * 0.2;
    shares[TimeClass::bubble] = 1 - (rank + 1) * 0.2;
    figures->step->ranks.push_back(shares);
  }
  return figures;
}

}  // namespace

TEST_CASE("Every rank has a cell of its own: stages across, replicas down, tensor ranks within a place") {
  const RankGrid grid{2, 3, 4};
  const GridLayout layout = lay_out_grid(grid, QRectF(10, 20, 800, 300));
  REQUIRE(layout.cells.size() == 24);
  for (int rank = 0; rank < 24; ++rank) {
    const QRectF& cell = layout.cells[static_cast<std::size_t>(rank)];
    CHECK(layout.rank_at(cell.center()) == rank);
    CHECK(QRectF(10, 20, 800.001, 300.001).contains(cell));
    const Coordinates at = grid.coordinates_of(rank);
    CHECK(cell.left() >= layout.stage_left[static_cast<std::size_t>(at.pipeline)] - 1e-9);
    CHECK(cell.top() == Approx(layout.replica_top[static_cast<std::size_t>(at.data)]));
  }
}

TEST_CASE("Values come from the analysis of the step, and a rank without one is not a zero") {
  auto figures = four_ranks();
  figures->step->ranks.pop_back();
  const auto values = values_of(*figures, GridQuantity::compute);
  REQUIRE(values.size() == 4);
  CHECK(values[2] == Approx(0.6));
  CHECK(std::isnan(values[3]));
  CHECK(std::isnan(values_of(*figures, GridQuantity::peak_memory)[0]));
}

TEST_CASE("A busier rank is painted stronger") {
  application();
  SharedState state;
  EmptySource source;
  FiguresModel figures;
  GridView view(state, source, figures);
  view.resize(700, 260);
  figures.set(four_ranks());
  const QImage image = view.grab().toImage();
  const GridLayout layout = view.layout_now();
  const Palette& p = view.colours();
  const auto distance = [](QColor a, QColor b) {
    return std::abs(a.red() - b.red()) + std::abs(a.green() - b.green()) + std::abs(a.blue() - b.blue());
  };
  int before = 1000;
  for (int rank = 0; rank < 4; ++rank) {
    const QRectF& cell = layout.cells[static_cast<std::size_t>(rank)];
    const QColor fill = image.pixelColor(cell.topLeft().toPoint() + QPoint(3, 3));
    const int to_accent = distance(fill, color(p.accent));
    CHECK(to_accent < before);
    before = to_accent;
  }
}

TEST_CASE("Ranks are listed under the grid by the chosen quantity, with a colour scale") {
  application();
  SharedState state;
  EmptySource source;
  FiguresModel figures;
  GridView view(state, source, figures);
  const QSize size = GENERATE(QSize(1280, 800), QSize(1040, 585));
  view.resize(size);
  view.show();
  auto known = four_ranks();
  known->step->ranks.pop_back();  // nothing is known of rank 3
  figures.set(known);
  const auto* table = view.findChild<QTableView*>();
  REQUIRE(table->isVisible());
  const auto order = [&] {
    QStringList ranks;
    for (int row = 0; row < view.ranking().rowCount(); ++row) ranks << view.ranking().words(row, 0).section(" ·", 0, 0);
    return ranks;
  };
  CHECK(order() == QStringList{"rank 2", "rank 1", "rank 0", "rank 3"});
  CHECK(view.ranking().words(0, 1) == QString::fromUtf8("60.0\u00a0%"));
  CHECK(view.ranking().words(3, 1) == QString::fromUtf8("–"));
  view.set_quantity(GridQuantity::bubble);
  CHECK(order() == QStringList{"rank 0", "rank 1", "rank 2", "rank 3"});
  // No parts overlap, and no cell is cut.
  const GridLayout layout = view.layout_now();
  for (const QRectF& cell : layout.cells) {
    CHECK(QRectF(view.rect()).contains(cell));
    CHECK(cell.bottom() < table->y());
  }
  QStringList words;
  for (const PaintedText& text : painted_texts(view)) words << text.words;
  CHECK(words.contains(QString::fromUtf8("0.0\u00a0%")));
  CHECK(words.contains(QString::fromUtf8("100.0\u00a0%")));
  view.set_veiled(true);
  CHECK_FALSE(table->isVisible());
}

TEST_CASE("A cell's text fits into it or is omitted") {
  application();
  SharedState state;
  EmptySource source;
  FiguresModel figures;
  GridView view(state, source, figures);
  view.show();
  auto known = four_ranks();
  known->run->ranks = 64;
  known->run->plan.data = 2;
  known->run->plan.tensor = 4;
  known->run->plan.pipeline = 8;
  StepShares shares;
  shares[TimeClass::compute] = 0.666;
  known->step->ranks.assign(64, shares);
  figures.set(known);
  int inside = 0;
  for (int width = 320; width <= 2600; width += 60) {
    view.resize(width, 200 + width % 7 * 40);
    const GridLayout layout = view.layout_now();
    for (const PaintedText& text : painted_texts(view)) {
      const int rank = layout.rank_at(text.box.center());
      if (rank < 0) continue;
      ++inside;
      INFO(width << ": " << text.words.toStdString());
      CHECK(layout.cells[static_cast<std::size_t>(rank)].adjusted(-1, -1, 1, 1).contains(text.box));
    }
  }
  CHECK(inside > 100);
}

TEST_CASE("A rank's lateness is its delay in collectives after the first of its group") {
  RunContext context;
  context.step.grid = RankGrid{1, 2, 2};  // ranks 0 and 1 are replicas of stage 0, 2 and 3 of stage 1
  const OpId first = parse_token("ALLREDUCE.data_gradient:c0:i0").value();
  const OpId second = parse_token("ALLREDUCE.data_gradient:c1:i0").value();
  for (int rank = 0; rank < 4; ++rank) {
    RankProgram program;
    program.rank = rank;
    Op op;
    op.id = rank < 2 ? first : second;
    op.group = GroupKind::data;
    program.ops.push_back(op);
    context.programs.push_back(program);
  }
  const auto span = [](int rank, OpId op, std::int64_t begin_ns) {
    Span result;
    result.rank = rank;
    result.op = op;
    result.begin_ns = begin_ns;
    return result;
  };
  const auto lateness = lateness_of(context, {span(0, first, 5'000), span(1, first, 2'000), span(2, second, 9'000)});
  REQUIRE(lateness.size() == 4);
  CHECK(lateness[0] == Approx(3e-6));
  CHECK(lateness[1] == 0);
  CHECK(lateness[2] == 0);         // the first of its group, whenever that is
  CHECK(std::isnan(lateness[3]));  // it never arrived
  CHECK(full_scale(GridQuantity::lateness, lateness) == Approx(3e-6));
  CHECK(full_scale(GridQuantity::bubble, lateness) == 1);
}

TEST_CASE("The grid of a folded plan of 1,024 ranks has a cell for each stage, and one more row for a slow rank") {
  application();
  SharedState state;
  EmptySource source;
  FiguresModel figures;
  GridView view(state, source, figures);
  view.resize(1366, 250);
  view.show();
  auto known = std::make_shared<Figures>();
  Report& report = known->predicted.emplace();
  report.folded = true;
  report.ranks = 1024;
  report.plan.data = 256;
  report.plan.pipeline = 4;
  for (int stage = 0; stage < 4; ++stage) {
    MemoryRow row;
    row.rank = report.plan.grid().rank_of({0, 0, stage});
    row.predicted = MemoryBytes{{}, (std::int64_t{10} + stage) << 30, {}};
    row.identical_ranks = 256;
    report.memory.push_back(row);
  }
  const bool slow = GENERATE(false, true);
  if (slow) report.slow = SlowRank{517, 3};  // of stage 2, replica 5
  figures.set(known);
  CHECK(view.quantity() == GridQuantity::peak_memory);  // which is known for every rank
  const GridLayout layout = view.layout_now();
  REQUIRE(layout.cells.size() == (slow ? 8 : 4));
  QStringList words;
  for (const PaintedText& text : painted_texts(view)) words << text.words;
  CAPTURE(words.join(", ").toStdString());
  CHECK(words.contains(slow ? "255 identical ranks" : "256 identical ranks"));
  CHECK(words.contains(QString::fromUtf8("12.0\u00a0GiB")));
  if (slow) {
    CHECK(words.contains("rank 517"));
    CHECK(words.contains("replica 5"));
    CHECK(words.contains("255 others"));
    CHECK(view.fold_now().cell_of(517) == 2 * 2);
  }
  int ranks = 0;
  for (int cell = 0; cell < static_cast<int>(layout.cells.size()); ++cell)
    for (const int rank : view.fold_now().ranks_of(cell)) {
      CHECK(view.fold_now().cell_of(rank) == cell);
      ++ranks;
    }
  CHECK(ranks == 1024);
  view.set_quantity(GridQuantity::compute);
  words.clear();
  for (const PaintedText& text : painted_texts(view)) words << text.words;
  CHECK_THAT(words.join(' ').toStdString(), ContainsText("Not known for each rank"));
}

TEST_CASE("If there are too many replicas, a row stands for several, and every row is high enough for its value") {
  application();
  SharedState state;
  EmptySource source;
  FiguresModel figures;
  GridView view(state, source, figures);
  view.show();
  auto known = four_ranks();
  known->run->ranks = 1024;
  known->run->plan.data = 128;
  known->run->plan.pipeline = 8;
  known->step->ranks.clear();
  for (int rank = 0; rank < 1024; ++rank) {
    StepShares shares;
    shares[TimeClass::compute] = rank % 2 ? 0.5 : 0.7;
    known->step->ranks.push_back(shares);
  }
  figures.set(known);
  for (const QSize size : {QSize(1366, 250), QSize(900, 600), QSize(1280, 800)}) {
    view.resize(size);
    const GridLayout layout = view.layout_now();
    CAPTURE(size.height(), layout.cells.size());
    for (const QRectF& cell : layout.cells) CHECK(cell.height() >= 15);
    QStringList words;
    for (const PaintedText& text : painted_texts(view)) words << text.words;
    int ranks = 0;
    for (int cell = 0; cell < static_cast<int>(layout.cells.size()); ++cell) {
      const auto members = view.fold_now().ranks_of(cell);
      const double sum = std::accumulate(members.begin(), members.end(), 0.0,
                                         [](double all, int rank) { return all + (rank % 2 ? 0.5 : 0.7); });
      CHECK(words.contains(QString::number(100 * sum / static_cast<double>(members.size()), 'f', 1) +
                           QString::fromUtf8("\u00a0%")));
      ranks += static_cast<int>(members.size());
    }
    CHECK(ranks == 1024);
  }
}

TEST_CASE("A click on a rank's cell, or on its row of the ranking, points at that rank") {
  application();
  SharedState state;
  EmptySource source;
  FiguresModel figures;
  GridView view(state, source, figures);
  view.resize(1280, 800);
  view.show();
  figures.set(four_ranks());
  std::vector<int> pointed;
  QObject::connect(&view, &DataView::rank_pointed, [&](int rank) { pointed.push_back(rank); });
  QTest::mouseClick(&view, Qt::LeftButton, {}, view.layout_now().cells[3].center().toPoint());
  QTest::mouseClick(&view, Qt::LeftButton, {}, QPoint(2, 2));  // no cell
  CHECK(pointed == std::vector<int>{3});
  auto* table = view.findChild<QTableView*>();
  QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(table->model()->index(1, 0)).center());
  CHECK(pointed == std::vector<int>{3, 2});  // the second busiest
  view.set_veiled(true);
  QTest::mouseClick(&view, Qt::LeftButton, {}, view.layout_now().cells[0].center().toPoint());
  CHECK(pointed.size() == 2);
}
