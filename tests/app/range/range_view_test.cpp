// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/range/range_view.hpp"

#include <QHeaderView>
#include <QLabel>
#include <QTableView>
#include <QTest>

#include "app/views/common/text.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/app/session/runs.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

class FixedSnapshot : public SnapshotSource {
 public:
  std::shared_ptr<const StoreView> view() const override { return run->view(); }
  std::shared_ptr<const StoreView> prediction() const override { return predicted; }
  std::shared_ptr<RunStore> run;
  std::shared_ptr<const StoreView> predicted;
};

/// A run with exactly the predicted times.
struct Place {
  explicit Place(const Scenario& what = small_scenario())
      : scenario(what), prediction((application(), predict(scenario))) {
    REQUIRE(prediction.refusal.empty());
    source.run = known_run(scenario, 3);
    source.predicted = prediction.view;
    auto known = std::make_shared<Figures>();
    known->context = prediction.context;
    figures.set(known);
    state.set_shown(Obtained::measured);
    state.set_step(1);
    view = std::make_unique<RangeView>(state, source, figures);
    view->resize(1100, 600);
    view->show();
    settle();
  }
  void settle() {
    REQUIRE(wait_until([&] { return view->settled(); }));
  }
  Scenario scenario;
  Prediction prediction;
  SharedState state;
  FixedSnapshot source;
  FiguresModel figures;
  std::unique_ptr<RangeView> view;
};

}  // namespace

TEST_CASE("Without a range the whole step is shown, with its prediction") {
  Place p;
  REQUIRE(p.view->picture().analysis);
  CHECK(p.view->picture().title.startsWith("Whole step 1: "));
  const RowsModel& rows = p.view->shares();
  // Mean and two ranks, each measured, predicted and ideal.
  REQUIRE(rows.rowCount() == 9);
  CHECK(rows.words(0, 1) == "measured");
  CHECK(rows.words(1, 1) == "predicted");
  CHECK(rows.words(2, 1) == "ideal");
  CHECK(rows.words(3, 0).startsWith("rank 0"));
  // The run equals the prediction: every share is the predicted one, and there is no gap.
  for (int column = 2; column < rows.columnCount(); ++column)
    for (int row = 0; row < 9; row += 3) CHECK(rows.words(row, column) == rows.words(row + 1, column));
  CHECK(p.view->gap().rowCount() == 0);
}

TEST_CASE("The table is that of the selected range, and of the whole step when the range is cleared") {
  Place p;
  const auto step = p.source.view()->step_range(Obtained::measured, 1);
  REQUIRE(step);
  const TimeRange half{step->begin_ns, step->begin_ns + step->length() / 2};
  p.state.set_selected_range(half);
  p.settle();
  CHECK(p.view->picture().analysis->range == half);
  CHECK(p.view->picture().title.contains("50.0"));
  double sum = 0;
  for (const double seconds : p.view->picture().analysis->ranks[0].measured.seconds) sum += seconds;
  CHECK(sum == Approx(static_cast<double>(half.length()) * 1e-9));
  p.state.set_selected_range({});
  p.settle();
  CHECK(p.view->picture().title.startsWith("Whole step 1: "));
}

TEST_CASE("The causes of the gap are shown completely, on more lines if space is small") {
  Place p;
  // Every op took a third longer than predicted.
  auto store = std::make_shared<RunStore>();
  EventSender filler(*store);
  publish_run(
      [&](int rank, Event event) {
        if (auto* batch = std::get_if<SpanBatch>(&event))
          for (Span& span : batch->rows)
            for (std::int64_t* at : {&span.begin_ns, &span.active_ns, &span.end_ns}) *at = *at * 4 / 3;
        filler.add(rank, std::move(event));
      },
      p.scenario, 3);
  p.source.run = store;
  const QSize size = GENERATE(QSize(1280, 800), QSize(1040, 585), QSize(700, 500));
  p.view->resize(size);
  p.state.set_step(2);
  p.settle();
  REQUIRE(p.view->gap().rowCount() > 0);
  QTableView* gap = nullptr;
  for (QTableView* table : p.view->findChildren<QTableView*>())
    if (table->accessibleName() == "Where the gap comes from") gap = table;
  REQUIRE(gap != nullptr);
  for (int row = 0; row < p.view->gap().rowCount(); ++row) {
    const QString words = p.view->gap().words(row, 0);
    const QSize cell(gap->columnWidth(0) - 22, gap->rowHeight(row));
    const QRect needed = gap->fontMetrics().boundingRect(QRect(0, 0, cell.width(), 1000), Qt::TextWordWrap, words);
    INFO(words.toStdString());
    CHECK(needed.height() <= cell.height());
    CHECK(needed.width() <= cell.width());
  }
  for (QLabel* label : p.view->findChildren<QLabel*>()) CHECK(label->height() >= label->heightForWidth(label->width()));
  CHECK_FALSE(p.view->picture().words.startsWith(' '));
}

TEST_CASE("Every column of the shares is seen beside the gap, and no table's last row is cut") {
  const std::string plan = GENERATE("pipeline = 2", "data = 2\npipeline = 2", "data = 4\npipeline = 4");
  Place p(small_scenario(plan + "\nmicro_batches = 4"));
  auto store = std::make_shared<RunStore>();
  EventSender filler(*store);
  publish_run(
      [&](int rank, Event event) {
        if (auto* batch = std::get_if<SpanBatch>(&event))
          for (Span& span : batch->rows)
            for (std::int64_t* at : {&span.begin_ns, &span.active_ns, &span.end_ns}) *at = *at * 4 / 3;
        filler.add(rank, std::move(event));
      },
      p.scenario, 3);
  p.source.run = store;
  p.state.set_step(2);
  p.settle();
  REQUIRE(p.view->gap().rowCount() > 0);
  // To a presentation and back: no part keeps the other size's layout.
  const QSize size = GENERATE(QSize(1280, 800), QSize(1040, 560), QSize(1920, 1080), QSize(1100, 417));
  for (const QSize& now : {QSize(1040, 560), size}) p.view->resize(now);
  for (QTableView* table : p.view->findChildren<QTableView*>()) {
    INFO(plan << ", " << size.width() << " x " << size.height() << ": " << table->accessibleName().toStdString());
    CHECK(table->horizontalHeader()->length() <= table->viewport()->width());
    const int last = table->rowAt(table->viewport()->height() - 1);
    if (last >= 0) {  // complete, or a margin without letters
      const int seen = table->viewport()->height() - table->rowViewportPosition(last);
      CHECK((seen >= table->rowHeight(last) || seen <= 4));
    }
    const QFontMetrics metrics(table->font());
    const int least = table->verticalHeader()->defaultSectionSize();
    if (!table->wordWrap()) continue;
    for (int row = 0; row < table->model()->rowCount(); ++row)
      if (metrics.horizontalAdvance(table->model()->index(row, 0).data().toString()) < table->columnWidth(0) - 30)
        CHECK(table->rowHeight(row) == least);
  }
}

TEST_CASE("A hidden view shows nothing") {
  Place p;
  p.view->set_veiled(true);
  for (QTableView* table : p.view->findChildren<QTableView*>()) CHECK_FALSE(table->isVisible());
}

TEST_CASE("Every rank's time is its whole interval, also where ops of other steps overlap it") {
  // Asynchronous servers: workers are up to three steps apart, so a step's time contains many ops of other steps.
  const std::string plan = GENERATE("data = 4\ndata_parallel = \"parameter-server\"\nservers = 1\nstaleness = 2",
                                    "pipeline = 2\nschedule = \"1f1b\"\nmicro_batches = 4");
  Place p(small_scenario(plan));
  const auto whole = p.source.view()->step_range(Obtained::measured, 1);
  REQUIRE(whole);
  const TimeRange part{whole->begin_ns + whole->length() / 5, whole->begin_ns + whole->length() / 2};
  for (const TimeRange range : {TimeRange{}, part}) {
    p.state.set_selected_range(range);
    p.settle();
    REQUIRE(p.view->picture().analysis);
    for (const RangeRow& row : p.view->picture().analysis->ranks) {
      const auto fills = [&](const RangeTime& time) {
        double sum = 0;
        for (const double seconds : time.seconds) sum += seconds;
        INFO("rank " << row.rank << ", " << sum << " of " << time.length_s());
        CHECK(sum == Approx(time.length_s()).epsilon(1e-9));
      };
      fills(row.measured);
      REQUIRE(row.predicted);
      fills(*row.predicted);
      REQUIRE(row.ideal);
      fills(*row.ideal);
    }
  }
}

TEST_CASE("The mean is over the workers, as the bubble of a step is, and says so: a server has no model to compute") {
  Place p(small_scenario("data = 4\ndata_parallel = \"parameter-server\"\nservers = 1\nstaleness = 2"));
  REQUIRE(p.view->picture().analysis);
  CHECK(p.view->picture().analysis->workers == 4);
  const RowsModel& rows = p.view->shares();
  CHECK(rows.words(0, 0) == "4 workers, mean");
  const auto step = analyse_step(p.prediction.context->programs, p.prediction.context->step.grid,
                                 spans_around(*p.source.view(), *p.prediction.context, Obtained::measured, 1),
                                 *p.source.view()->step_range(Obtained::measured, 1), 1);
  for (int column = 3; column < rows.columnCount(); ++column)
    for (const TimeClass time : {TimeClass::compute, TimeClass::bubble})
      if (rows.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString() == text::utf8(name_of(time)))
        CHECK(rows.words(0, column) == text::percent(step.average[time]));
}

TEST_CASE("Every row of the table in a file names its rank") {
  Place p;
  const ViewTable table = p.view->table();
  REQUIRE(table.rows.size() == 6);  // two ranks: measured, predicted, ideal
  for (const QStringList& row : table.rows) {
    REQUIRE(row.size() == table.titles.size());
    CHECK((row[0] == "0" || row[0] == "1"));
    double sum = 0;
    for (int c = 3; c + 1 < row.size(); ++c) sum += row[c].toDouble();
    CHECK(sum == Approx(row[2].toDouble()));
  }
  p.view->set_veiled(true);
  CHECK(p.view->table().rows.empty());
}
