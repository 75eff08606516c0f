// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/search/search_view.hpp"

#include <QPushButton>
#include <QTest>
#include <algorithm>
#include <set>

#include "engine/plan/scenario/read.hpp"
#include "engine/predict/search/plan_space.hpp"
#include "tests/app/session/shown_view.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

/// Four plans of one knob: 2 s with 30 bytes, 1 s with 40, 3 s with 10, and one that needs 90 of 50 bytes.
PlanSearchReport known_report(Strategy strategy) {
  PlanSearchReport report;
  report.strategy = strategy;
  report.judged = "by hand";
  report.global_batch = 8;
  report.device_bytes = 50;
  report.knobs = {{"micro_batches", {"1", "2", "4", "8"}, true}, {"zero", {"0"}, true}};
  report.plans = report.tried = 4;
  report.out_of_memory = 1;
  report.points = {{0, Fate::fits, 2, 30, {1.5, 0, 0, 0, 0, 0, 0, 0.5, 0}, {0, 0}, 1},
                   {1, Fate::fits, 1, 40, {0.9, 0, 0, 0, 0, 0, 0, 0.1, 0}, {1, 0}, 1},
                   {2, Fate::fits, 3, 10, {0.9, 0, 0, 0, 0, 0, 0, 2.1, 0}, {2, 0}, 1},
                   {3, Fate::out_of_memory, 1.5, 90, {}, {3, 0}, 1}};
  report.best = {1, 0, 2};
  report.front = {1, 0, 2};
  report.importance = {1, 0};
  report.importance_is_exact = strategy == Strategy::exhaustive;
  report.trajectory = {{1, 0}, {2, 1}};
  return report;
}

SearchReports known(std::initializer_list<Strategy> strategies) {
  SearchReports reports;
  for (const Strategy strategy : strategies)
    reports[strategy] = std::make_shared<PlanSearchReport>(known_report(strategy));
  return reports;
}

QString words_of_row(const std::vector<std::vector<Cell>>& rows, const QString& name, std::size_t column) {
  for (const auto& row : rows)
    if (row[0].words == name) return row[column].words;
  return QStringLiteral("no row ") + name;
}

struct ShownSearch : ShownView<SearchView> {
  /// Eight ranks of a described cluster with so little memory that many plans do not fit.
  void open() {
    ShownView::open(
        "title = \"eight ranks\"\n[model]\nlayers = 8\nwidth = 1024\nheads = 8\ncontext = 512\nvocabulary = 8192\n"
        "[plan]\ndata = 8\nmicro_batches = 1\nprecision = \"fp16\"\n[train]\nglobal_batch = 16\n"
        "[cluster]\nspec = \"selene\"\nmemory_bytes = 3.2e9\n");
  }
  void search(int budget = 40) {
    view.choose(budget, 1);
    view.start();
    REQUIRE(wait_until([&] { return view.settled(); }));
    REQUIRE(view.searcher().failure() == QString());
  }
  QPushButton* button(const QString& words) {
    for (auto* one : view.findChildren<QPushButton*>())
      if (one->text() == words) return one;
    return nullptr;
  }
};

}  // namespace

TEST_CASE("plans tried by all strategies are in one picture, each plan once") {
  const FoundPlans both = merged(known({Strategy::random, Strategy::bayes}));
  CHECK(both.points.size() == 4);
  REQUIRE(both.best.size() == 3);
  CHECK(both.points[both.best[0]].seconds == 1);
  CHECK(both.front.size() == 3);
  CHECK(both.fastest()->number == 1);
  CHECK(both.importance_words.contains("random tries"));
  const FoundPlans all = merged(known({Strategy::random, Strategy::exhaustive}));
  CHECK(all.points.size() == 4);
  CHECK(all.importance_words.contains("exact, over the 3 plans that fit"));
  CHECK(merged({}).empty());
}

TEST_CASE("the reason why a plan is not the fastest names parts of its step, or the missing memory") {
  const FoundPlans found = merged(known({Strategy::exhaustive}));
  CHECK(why_not_fastest(found, 1).startsWith("The fastest tried plan"));
  // 2 s against 1 s: 0.6 s of compute and 0.4 s of bubble.
  const QString second = why_not_fastest(found, 0);
  CHECK(second.startsWith("The runner-up: 1.00"));
  CHECK(second.contains("(100"));
  CHECK(second.contains("compute +600"));
  CHECK(second.contains("bubble +400"));
  CHECK(why_not_fastest(found, 2).contains("bubble +2.00"));
  CHECK_FALSE(why_not_fastest(found, 2).contains("compute"));
  CHECK(why_not_fastest(found, 3).startsWith("Out of memory: it needs 90"));
  CHECK(why_not_fastest(found, 3).contains("a device has 50"));
}

TEST_CASE("a plan's rows have its knobs and parts beside the fastest one's") {
  const auto rows = plan_rows(merged(known({Strategy::exhaustive})), 0);
  CHECK(words_of_row(rows, "micro batches", 1) == "1");
  CHECK(words_of_row(rows, "micro batches", 2) == "2");
  CHECK(words_of_row(rows, "zero", 1) == "no row zero");  // one value in all plans
  CHECK(words_of_row(rows, "in it: bubble", 1).startsWith("500"));
  CHECK(words_of_row(rows, "in it: bubble", 2).startsWith("100"));
  CHECK(words_of_row(rows, "in it: tensor", 1) == "no row in it: tensor");
}

TEST_CASE("the table for a file has every point, its fate and its knobs") {
  const ViewTable table = plans_table(merged(known({Strategy::exhaustive})));
  REQUIRE(table.rows.size() == 4);
  for (const QStringList& row : table.rows) CHECK(row.size() == table.titles.size());
  CHECK(table.rows[3][1] == "out of memory");
  CHECK(table.rows[3][5] == "no");
  CHECK(table.rows[1][2] == "1");
  CHECK(table.rows[1][5] == "yes");
  CHECK(table.titles.contains("micro_batches"));
}

TEST_CASE("an empty search view explains how to fill it") {
  ShownSearch shown;
  CHECK(shown.button("Search") != nullptr);
  CHECK_FALSE(shown.button("Search")->isEnabled());
  shown.open();
  CHECK(shown.button("Search")->isEnabled());
  CHECK(shown.view.found().empty());
  CHECK(shown.view.table().rows.empty());
  CHECK_FALSE(shown.view.plans_chart().isVisible());
}

TEST_CASE("a search finds plans by three strategies; the runner-up is shown first, and a click chooses another") {
  ShownSearch shown;
  shown.open();
  shown.search();
  const FoundPlans& found = shown.view.found();
  REQUIRE(found.best.size() > 2);
  CHECK(std::any_of(found.points.begin(), found.points.end(),
                    [](const PlanPoint& p) { return p.fate == Fate::out_of_memory; }));
  for (const Strategy strategy : every_strategy) REQUIRE(shown.view.searcher().report(strategy));
  CHECK(shown.view.searcher().report(Strategy::random)->tried == 40);
  CHECK(shown.view.searcher().report(Strategy::exhaustive)->tried ==
        shown.view.searcher().report(Strategy::exhaustive)->plans);
  CHECK(shown.view.chosen() == found.best[1]);
  CHECK(shown.view.why().startsWith("The runner-up: "));
  // Three curves, each falling, from as many tries as the strategy had.
  REQUIRE(shown.view.tries_chart().plot().series.size() == 3);
  for (const PlotSeries& curve : shown.view.tries_chart().plot().series)
    for (std::size_t i = 1; i < curve.points.size(); ++i) {
      CHECK(curve.points[i].y <= curve.points[i - 1].y);
      CHECK(curve.points[i].x >= curve.points[i - 1].x);
    }
  REQUIRE(shown.view.bars().bars().size() > 5);
  for (std::size_t i = 1; i < shown.view.bars().bars().size(); ++i)
    CHECK(shown.view.bars().bars()[i].share <= shown.view.bars().bars()[i - 1].share);

  // Points far beyond the front are counted, not drawn: the front has the space.
  std::size_t drawn = 0;
  for (const PlotSeries& series : shown.view.plans_chart().plot().series)
    if (series.name == "fits" || series.name == "out of memory")
      for (const PlotPoint& point : series.points) {
        ++drawn;
        CHECK(point.y <= 4 * 3.2e9);
      }
  CHECK(drawn > 100);
  CHECK(drawn < found.points.size());
  CHECK(shown.view.plans_chart().plot().title.contains("outside the axes"));

  const PlotChart& chart = shown.view.plans_chart();
  const PlanPoint& smallest = found.points[found.front[found.front.size() / 2]];
  const QPointF at = scale_of(chart.plot(), chart.rect()).at(smallest.seconds, smallest.bytes);
  QTest::mouseClick(const_cast<PlotChart*>(&chart), Qt::LeftButton, {}, at.toPoint());
  REQUIRE(shown.view.chosen());
  const PlanPoint& chosen = found.points[*shown.view.chosen()];
  const QPointF there = scale_of(chart.plot(), chart.rect()).at(chosen.seconds, chosen.bytes);
  CHECK((there - at).manhattanLength() < 3);  // others may be as near
  CHECK(shown.view.chosen() != found.best[1]);
}

TEST_CASE("the chosen plan becomes the session's, and the results stay") {
  ShownSearch shown;
  shown.open();
  shown.search(20);
  const std::size_t fastest = shown.view.found().best.front();
  QTest::mouseClick(shown.button("Fastest"), Qt::LeftButton);
  CHECK(shown.view.chosen() == fastest);
  const PlanSpec before = shown.session.scenario()->plan;
  QTest::mouseClick(shown.button("Use this plan"), Qt::LeftButton);
  REQUIRE(wait_until([&] { return shown.session.settled(); }));
  CHECK(shown.session.scenario()->plan ==
        with_values(before, shown.view.found().knobs, shown.view.found().points[fastest].values));
  // It is not an error that the cluster's software is not here.
  CHECK(shown.session.refusal().contains("belong to a machine that is not here"));
  CHECK_FALSE(shown.view.found().empty());
  // Another batch is another training: the results are not valid for it.
  Scenario other = *shown.session.scenario();
  other.train.global_batch *= 2;
  shown.session.edit(other);
  REQUIRE(wait_until([&] { return shown.session.settled(); }));
  CHECK(shown.view.found().empty());
}

TEST_CASE("a stopped search keeps its results, and another can begin") {
  ShownSearch shown;
  shown.open();
  shown.view.choose(10000, 1);
  shown.view.start();
  CHECK_FALSE(shown.view.settled());
  shown.view.stop();
  CHECK(shown.view.settled());
  CHECK(shown.view.found().empty());
  shown.search(15);
  CHECK_FALSE(shown.view.found().empty());
}

TEST_CASE("changes that keep training and number of ranks keep the search's results, another model does not") {
  Scenario one = parse_scenario("[plan]\ndata = 4\n", "a.toml"), other = one;
  other.plan.data = 2;
  other.plan.pipeline = 2;
  other.plan.schedule = ScheduleKind::zb_h1;
  CHECK(same_search(one, other));
  other.plan.pipeline = 4;
  CHECK_FALSE(same_search(one, other));
  other = one;
  other.model.layers += 1;
  CHECK_FALSE(same_search(one, other));
  other = one;
  other.plan.precision = "bf16";
  CHECK_FALSE(same_search(one, other));
  other = one;
  other.cluster.memory_bytes = 1;
  CHECK_FALSE(same_search(one, other));
}

TEST_CASE("no part of the search view overlaps another, at any size") {
  ShownSearch shown;
  shown.open();
  shown.search(15);
  for (const QSize size : {QSize(1366, 520), QSize(1000, 300), QSize(760, 300), QSize(560, 220), QSize(340, 160)}) {
    shown.view.resize(size);
    QCoreApplication::processEvents();
    std::vector<const QWidget*> parts;
    for (const QObject* child : shown.view.children())
      if (const auto* part = qobject_cast<const QWidget*>(child); part != nullptr && part->isVisible())
        parts.push_back(part);
    for (std::size_t i = 0; i < parts.size(); ++i)
      for (std::size_t j = i + 1; j < parts.size(); ++j) {
        INFO(size.width() << "x" << size.height() << ": " << parts[i]->metaObject()->className() << " and "
                          << parts[j]->metaObject()->className());
        const QRect both = parts[i]->geometry() & parts[j]->geometry();
        CHECK((both.width() <= 12 || both.height() <= 2));
      }
    CHECK(shown.view.plans_chart().isVisible());
  }
}
