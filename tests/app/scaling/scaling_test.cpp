// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFile>
#include <QHeaderView>
#include <QPushButton>
#include <QScrollBar>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <cmath>

#include "app/views/scaling/scaling_view.hpp"
#include "engine/explain/facts/prediction.hpp"
#include "engine/explain/facts/sweep_file.hpp"
#include "engine/explain/validate/validate.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/app/session/runs.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

/// Over plan.data: 8 ms, 5 ms and 4 ms for 1,024 tokens; predicted 8, 4 and 2. A fourth point is invalid.
Sweep known_sweep() {
  Sweep sweep;
  sweep.title = "known";
  sweep.host = "here";
  sweep.steps = 4;
  sweep.axes = {{"plan.data", {"1", "2", "4", "3"}}};
  const double seconds[] = {0.008, 0.005, 0.004}, predicted[] = {0.008, 0.004, 0.002};
  for (std::int32_t i = 0; i < 4; ++i) {
    SweepPoint point;
    point.keys = {{"plan.data", sweep.axes[0].values[static_cast<std::size_t>(i)]}};
    point.ranks = std::stoi(point.keys[0].value);
    point.global_batch = 16;
    point.tokens_per_step = 1024;
    if (i == 3) point.refused = "16 samples cannot be cut in three";
    sweep.points.push_back(point);
    if (i == 3) continue;
    SweepRun run;
    run.point = i;
    run.obtained = Obtained::emulated;
    run.step_seconds = {seconds[i], seconds[i] * 1.1, seconds[i] * 0.9, seconds[i] * 0.8, seconds[i] * 1.2};
    run.predicted_step_seconds = predicted[i];
    sweep.runs.push_back(run);
  }
  return sweep;
}

QString written(const QTemporaryDir& folder, const Sweep& sweep) {
  const QString file = folder.filePath("sweep.mcap");
  SweepRecorder recorder(file.toStdString(), sweep);
  for (const SweepRun& run : sweep.runs) recorder.add(run, 0);
  REQUIRE(recorder.close().empty());
  return file;
}

/// A machine on which every op takes three times as long as in the cluster's figures; two ranks of data parallelism.
struct SlowMachine {
  Scenario scenario = small_scenario("data = 2\nmicro_batches = 1");
  RunContext context = context_of(scenario);

  Costs costs(const Scenario& of) const {
    Costs three = modelled_costs(of, compile(of).model);
    three.compute_ns = [once = std::move(three.compute_ns)](const RankProgram& program, const Op& op) {
      return 3 * once(program, op);
    };
    return three;
  }
  double seconds(const Scenario& of) const {
    return make_report(facts_of_plan(context_of(of), costs(of))).step_seconds;
  }
  /// A run's messages there before its first step: its identity, its programs, and its prediction.
  void publish(const std::function<void(int rank, Event event)>& to) const {
    Hello hello;
    hello.title = "a slow machine";
    hello.scenario_toml = to_toml(scenario);
    hello.ranks = scenario.plan.ranks();
    hello.steps = 3;
    hello.device = "cpu";
    hello.host = "snail";
    to(0, hello);
    for (const RankProgram& program : context.programs) {
      ProgramRecord record{program.rank, 0, to_text(program)};
      record.hash = hash_of(record.text);
      to(program.rank, record);
    }
    const Simulation expected = simulate(context.programs, context.step.grid, costs(scenario), 2);
    for (int rank = 0; rank < hello.ranks; ++rank) {
      SpanBatch batch{Obtained::simulated, ClockDomain::device, {}};
      for (const Span& span : expected.spans)
        if (span.rank == rank) batch.rows.push_back(span);
      to(rank, batch);
    }
  }
  std::shared_ptr<const StoreView> view() const {
    RunStore store;
    EventSender filler(store);
    publish([&](int rank, Event event) { filler.add(rank, std::move(event)); });
    return store.view();
  }
};

QString scenario_file(const QTemporaryDir& folder) {
  QFile file(folder.filePath("small.toml"));
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write(QByteArray::fromStdString(to_toml(small_scenario("data = 1\nmicro_batches = 1"))));
  return file.fileName();
}

}  // namespace

TEST_CASE("A sweep's efficiency is n1 T1 / (n Tn) on both sides, and what was refused says why") {
  const ScalingCurves curves = curves_of(known_sweep());
  REQUIRE(curves.points.size() == 4);
  CHECK(curves.run_name == "emulated");
  CHECK(curves.points[1].run.efficiency == Approx(8.0 / (2 * 5)));
  CHECK(curves.points[1].predicted.efficiency == Approx(1.0));
  CHECK(curves.points[3].ranks == 4);  // by ranks: the refused three are before it
  CHECK(curves.points[3].run.efficiency == Approx(8.0 / (4 * 4)));
  CHECK(curves.points[2].reason.contains("cannot be cut in three"));
  CHECK(curves.points[1].run.rate == Approx(1024 / 0.005));
  CHECK(curves.points[1].rate_low < curves.points[1].run.rate);
  CHECK(curves.points[1].rate_high > curves.points[1].run.rate);
}

TEST_CASE("An efficiency over 100 % says why") {
  CHECK_FALSE(curves_of(known_sweep()).formula.contains("over 100 %"));
  Sweep sweep = known_sweep();
  sweep.runs[1].step_seconds = {0.003};  // two ranks: 8 / (2 * 3)
  sweep.scenario_toml = to_toml(small_scenario("data = 1\nmicro_batches = 1"));
  const ScalingCurves faster = curves_of(sweep);
  CHECK(faster.points[1].run.efficiency == Approx(8.0 / 6));
  CHECK(faster.formula.contains("over 100 %: the work per rank shrinks"));
  // One worker and two servers are three ranks, four workers and two servers are six.
  const ScalingCurves served =
      predicted_curves(small_scenario("data = 1\nmicro_batches = 1\ndata_parallel = \"parameter-server\"\nservers = 2"),
                       "plan.data", Scaling::strong, 6);
  REQUIRE(served.points.size() >= 2);
  CHECK(served.points[0].ranks == 3);
  CHECK(served.points[1].ranks == 4);
  const double most = std::max_element(served.points.begin(), served.points.end(), [](const auto& x, const auto& y) {
                        return x.predicted.efficiency < y.predicted.efficiency;
                      })->predicted.efficiency;
  CHECK(served.formula.contains("2 of the ranks are servers and do no compute") == (most > 1.005));
}

TEST_CASE("A plan is predicted for 1, 2, 4, … ranks as the engine predicts each of them") {
  const Scenario scenario = small_scenario("data = 1\nmicro_batches = 1");
  const ScalingCurves curves = predicted_curves(scenario, "plan.data", Scaling::strong, 32);
  REQUIRE(curves.points.size() == 6);
  Scenario two = scenario;
  two.plan.data = 2;
  const double alone = predict_step(compile(scenario)).step_seconds, both = predict_step(compile(two)).step_seconds;
  CHECK(curves.points[0].predicted.efficiency == Approx(1.0));
  CHECK(curves.points[1].predicted.step_seconds == Approx(both));
  CHECK(curves.points[1].predicted.efficiency == Approx(alone / (2 * both)));
  // Sixteen samples on 32 ranks: refused, with the engine's own message.
  CHECK(std::isnan(curves.points[5].predicted.step_seconds));
  CHECK(curves.points[5].reason.contains("global_batch"));
}

TEST_CASE("A single collective has no rate: the view says so and draws no axes") {
  Scenario alone;
  alone.model.kind = "collective";
  alone.plan.data = 4;
  const ScalingCurves curves = predicted_curves(alone, "plan.data", Scaling::strong, 8, {});
  CHECK(curves.points.empty());
  CHECK_THAT(curves.failure.toStdString(), ContainsText("A single collective has no rate"));
}

TEST_CASE("Weak scaling lets the batch grow with the ranks") {
  const Scenario scenario = small_scenario("data = 1\nmicro_batches = 1");
  const ScalingCurves curves = predicted_curves(scenario, "plan.data", Scaling::weak, 4);
  Scenario four = scenario;
  four.plan.data = 4;
  four.train.global_batch *= 4;
  const double alone = predict_step(compile(scenario)).step_seconds, all = predict_step(compile(four)).step_seconds;
  REQUIRE(curves.points.size() == 3);
  CHECK(curves.points[2].predicted.step_seconds == Approx(all));
  CHECK(curves.points[2].predicted.efficiency == Approx(alone / all));
}

TEST_CASE("Measured costs of a run predict other numbers of ranks") {
  const SlowMachine machine;
  CostSource costs;
  costs.run = costs_of_run(*machine.view(), machine.context);
  costs.host = "snail";
  REQUIRE(costs.run);
  CHECK(costs.run->compute_over_model == Approx(3).epsilon(1e-3));
  // Strong: other ranks have other micro-batches, which the run does not have; weak: the same ones again.
  const Scaling scaling = GENERATE(Scaling::strong, Scaling::weak);
  const ScalingCurves curves = predicted_curves(machine.scenario, "plan.data", scaling, 4, costs);
  REQUIRE(curves.points.size() == 3);
  for (const ScalingAt& at : curves.points) {
    Scenario plan = machine.scenario;
    plan.plan.data = static_cast<int>(at.ranks);
    if (scaling == Scaling::weak) plan.train.global_batch *= plan.plan.data;
    INFO(at.name.toStdString());
    CHECK(at.predicted.step_seconds == Approx(machine.seconds(plan)).epsilon(2e-3));
    CHECK(at.predicted.step_seconds > 1.05 * predict_step(compile(plan)).step_seconds);
  }
  CHECK(curves.source.contains("snail"));
  CHECK(predicted_curves(machine.scenario, "plan.data", scaling, 2).source.contains("laptop"));
}

TEST_CASE("Costs that are not measured on a machine are not applied to other plans") {
  const SlowMachine machine;
  const auto has_costs = [&](const std::function<bool(int rank, Event& event)>& keep) {
    RunStore store;
    EventSender filler(store);
    machine.publish([&](int rank, Event event) {
      if (keep(rank, event)) filler.add(rank, std::move(event));
    });
    return costs_of_run(*store.view(), machine.context);
  };
  CHECK(has_costs([](int, Event&) { return true; }));
  CHECK_FALSE(has_costs([](int, Event& event) { return !std::holds_alternative<SpanBatch>(event); }));
  CHECK_FALSE(
      has_costs([](int rank, Event& event) { return rank == 0 || !std::holds_alternative<ProgramRecord>(event); }));
  CHECK_FALSE(has_costs([](int, Event& event) {  // it sleeps as long as the cluster's figures predict
    if (auto* hello = std::get_if<Hello>(&event)) hello->device = "sleep";
    return true;
  }));
}

TEST_CASE("The plan that ran is a point on its own curve") {
  const Scenario scenario = small_scenario("data = 2\nmicro_batches = 1");
  Report ran;
  ran.obtained = Obtained::emulated;
  ran.step_seconds = 0.25;
  const ScalingCurves curves = with_run(predicted_curves(scenario, "plan.data", Scaling::strong, 4), ran);
  REQUIRE(curves.points.size() == 3);
  CHECK(curves.run_name == "emulated");
  CHECK(curves.points[1].run.step_seconds == 0.25);
  CHECK(curves.points[1].run.rate == Approx(16 * 16 / 0.25));  // 16 samples of 16 tokens
  CHECK(std::isnan(curves.points[0].run.step_seconds));
  CHECK(std::isnan(curves.points[2].run.step_seconds));
  // Weak scaling has its two ranks at twice the batch: that is not what ran.
  CHECK(with_run(predicted_curves(scenario, "plan.data", Scaling::weak, 4), ran).run_name.isEmpty());
  for (const auto& row : scaling_rows(curves))
    CHECK(static_cast<qsizetype>(row.size()) == scaling_titles(curves).size());
}

TEST_CASE("Published rows are at their numbers of ranks, with the engine's own predictions") {
  for (const PublishedTable& table : read_all_published()) {
    if (table.file != "megatron-sc21") continue;
    REQUIRE(can_be_scaled(table));
    const ScalingCurves curves = curves_of(table);
    REQUIRE(curves.points.size() == table.rows.size());
    CHECK(curves.points.front().ranks == 32);
    CHECK(curves.points.back().ranks == 3072);
    CHECK(curves.points.front().run.step_seconds == 3.52);
    CHECK(curves.points.front().predicted.step_seconds == Approx(validate(table).rows.front().predicted()));
    // Narayanan et al. give 137 TFLOP/s per GPU for 1.7 B with recomputation (96), of which 72 are the model's.
    CHECK(curves.points.front().run.rate == Approx(137 * 72.0 / 96).epsilon(0.05));
    return;
  }
  FAIL("megatron-sc21 is not there");
}

TEST_CASE("The charts' points lie where the numbers say") {
  application();
  QTemporaryDir folder;
  SharedState state;
  Session session;
  ScalingView view(state, session);
  view.resize(900, 500);
  view.show();
  view.open_sweep(written(folder, known_sweep()));
  REQUIRE(wait_until([&] { return view.settled() && !view.curves().points.empty(); }));
  CHECK(view.rows().rowCount() == 4);
  const auto& charts = view.charts();
  // Efficiency has the range 0 to 105 %: 80 % of two ranks is 25/105 below the top, in the middle between 1 and 4.
  const Plot& efficiency = charts[1]->plot();
  const PlotScale scale = scale_of(efficiency, charts[1]->rect());
  const QPointF at = scale.at(2, 0.8);
  CHECK(at.y() == Approx(scale.inner.top() + scale.inner.height() * 0.25 / 1.05));
  CHECK(at.x() == Approx(scale.inner.center().x()).margin(0.5));
  // And there the chart has its dot: in the run's colour, with nothing of it further on.
  const QImage picture = charts[1]->grab().toImage().convertToFormat(QImage::Format_RGB32);
  const QRgb ran = QColor(palette_of(Theme::dark).accent).rgb();
  CHECK(picture.pixel(at.toPoint()) == ran);
  CHECK(picture.pixel(at.toPoint() + QPoint(12, 12)) != ran);
  // Ticks are 0, 20, … 100 %, however high the chart is; the margin above them has none.
  REQUIRE(efficiency.y.ticks.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) CHECK(efficiency.y.ticks[i] == Approx(0.2 * static_cast<double>(i)));
  const PlotPoint* near = point_near(efficiency, charts[1]->rect(), at + QPointF(2, 1));
  REQUIRE(near != nullptr);
  CHECK(near->help.contains("plan.data=2"));
  CHECK(point_near(efficiency, charts[1]->rect(), at + QPointF(40, 0)) == nullptr);
  for (const PlotChart* chart : charts) CHECK(view.rect().contains(chart->geometry()));
  view.resize(670, 160);  // as in the window's dock
  for (const PlotChart* chart : charts) {
    CHECK(view.rect().contains(chart->geometry()));
    CHECK(chart->height() > 90);
  }
  // No number of ranks is on an axis without a point over it: three ranks were refused.
  for (const PlotChart* chart : charts) CHECK(chart->plot().x.ticks == std::vector<double>{1, 2, 4});
}

TEST_CASE("The table has whole rows and no horizontal scroll bar, and a refusal is shown completely") {
  application();
  QTemporaryDir folder;
  Sweep sweep = known_sweep();
  sweep.points[3].refused =
      "plan.micro_batches: global_batch 32 cannot be cut into 8 data-parallel ranks × 8 micro-batches; 64 would do, or "
      "fewer micro-batches";
  const QSize size = GENERATE(QSize(1280, 800), QSize(1040, 585));
  SharedState state;
  Session session;
  ScalingView view(state, session);
  view.resize(size);
  view.show();
  view.open_sweep(written(folder, sweep));
  REQUIRE(wait_until([&] { return view.settled() && !view.curves().points.empty(); }));
  auto* table = view.findChild<QTableView*>();
  REQUIRE(table != nullptr);
  REQUIRE(table->isVisible());
  CHECK_FALSE(table->horizontalScrollBar()->isVisible());
  CHECK(table->horizontalHeader()->length() <= table->viewport()->width());
  int rows = 0;
  for (int row = 0; row < view.rows().rowCount(); ++row) rows += table->rowHeight(row);
  CHECK(table->viewport()->height() >= rows);
  const QRect cell = table->visualRect(view.rows().index(2, reason_column));
  const QRect words = table->fontMetrics().boundingRect(cell.adjusted(11, 2, -11, -2), Qt::TextWordWrap,
                                                        view.rows().words(2, reason_column));
  CHECK(view.rows().words(2, reason_column).contains("cannot be cut"));
  CHECK(words.height() <= cell.height());
  CHECK(words.width() <= cell.width());
  CHECK(table->rowHeight(2) <= 3 * table->rowHeight(0));  // it has the space of all figures
}

TEST_CASE("Measuring runs the engine's sweep and shows what it recorded") {
  application();
  QTemporaryDir folder;
  const QString recorded = written(folder, known_sweep());
  QFile engine(folder.filePath("engine"));
  REQUIRE(engine.open(QIODevice::WriteOnly));
  // Writes down its arguments, and copies the sweep to the file in --record.
  engine.write("#!/bin/sh\necho \"$@\" > '" + folder.filePath("asked").toUtf8() +
               "'\nwhile [ \"$1\" != --record ]; do shift; done\ncp '" + recorded.toUtf8() + "' \"$2\"\n");
  engine.close();
  engine.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
  SessionOptions options;
  options.engine = engine.fileName();
  options.recordings_folder = folder.filePath("recordings");
  SharedState state;
  Session session(options);
  ScalingView view(state, session);
  view.resize(900, 500);
  view.show();
  session.open({SourceKind::scenario, scenario_file(folder)});
  REQUIRE(wait_until([&] { return session.state() == SessionState::ready && session.settled(); }));
  Scenario changed = *session.scenario();
  changed.plan.precision = "bf16";
  session.edit(changed);
  REQUIRE(wait_until([&] { return session.settled() && view.settled(); }));
  QPushButton* measure = nullptr;
  for (QPushButton* button : view.findChildren<QPushButton*>())
    if (button->text() == "Measure") measure = button;
  REQUIRE(measure != nullptr);
  QTest::mouseClick(measure, Qt::LeftButton);
  CHECK(view.measuring());
  REQUIRE(wait_until([&] { return view.settled() && view.curves().run_name == "emulated"; }));
  CHECK(view.curves().points.size() == 4);
  QFile asked(folder.filePath("asked"));
  REQUIRE(asked.open(QIODevice::ReadOnly));
  const QString arguments = QString::fromUtf8(asked.readAll());
  CHECK(arguments.startsWith("sweep "));
  CHECK(arguments.contains("--over plan.data=1,2,4,8"));
  CHECK(arguments.contains("--set plan.precision="));
}

TEST_CASE("A file that is not a sweep is refused with a message") {
  application();
  SharedState state;
  Session session;
  ScalingView view(state, session);
  view.resize(900, 500);
  view.show();
  view.open_sweep("/nowhere/sweep.mcap");
  REQUIRE(wait_until([&] { return view.settled() && !view.curves().failure.isEmpty(); }));
  CHECK(view.curves().failure.contains("/nowhere/sweep.mcap"));
  CHECK_FALSE(is_sweep_file("/nowhere/sweep.mcap"));
}
