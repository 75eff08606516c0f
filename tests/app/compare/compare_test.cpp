// SPDX-License-Identifier: GPL-3.0-or-later
#include <QMouseEvent>
#include <QTemporaryDir>
#include <QTest>

#include "app/views/compare/compare_rows.hpp"
#include "app/views/compare/compare_view.hpp"
#include "app/views/timeline/timeline_view.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/app/session/recording.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

const char* const gpipe = "pipeline = 2\nschedule = \"gpipe\"\nmicro_batches = 4";
const char* const naive = "pipeline = 2\nschedule = \"naive\"\nmicro_batches = 4";

/// A recording of each plan: A in the session, B beside it.
struct TwoRuns {
  QApplication& everything = application();
  QTemporaryDir folder;
  SharedState state;
  Session session;
  Navigator navigator{state, session};
  std::unique_ptr<CompareView> view;

  QString recording(const char* name, const char* plan) const {
    return record(folder.filePath(name), small_scenario(plan), 4);
  }
  void open(const QString& file) {
    session.open({SourceKind::trace, file});
    REQUIRE(wait_until([&] { return session.state() == SessionState::ended && session.settled(); }));
    state.set_shown(Obtained::measured);
    state.set_extent(session.view()->extent(Obtained::measured));
    navigator.show_step(1);
    session.choose_step(1);
    REQUIRE(wait_until([&] { return session.settled(); }));
  }
  TwoRuns() {
    view = std::make_unique<CompareView>(state, session, navigator);
    view->resize(1200, 700);
    view->show();
  }
  void open_both() {
    open(recording("gpipe.mcap", gpipe));
    view->open(recording("naive.mcap", naive));
    REQUIRE(wait_until([&] { return view->settled() && view->other().figures().latest()->step.has_value(); }));
  }
  TimeRange step_a() const { return *session.view()->step_range(Obtained::measured, 1); }
  TimeRange step_b() const { return *view->other().view()->step_range(Obtained::measured, 1); }
};

/// Of "31.0 %" and "1,234 ms", whose space does not break.
double number_of(const QString& cell) { return cell.section(QChar::Nbsp, 0, 0).remove(',').toDouble(); }

}  // namespace

TEST_CASE("Two runs are shown side by side, aligned by step") {
  TwoRuns runs;
  runs.open_both();
  CHECK(runs.view->other_state().step() == 1u);
  const TimeRange a = runs.state.visible(), b = runs.view->other_state().visible();
  CHECK(a.begin_ns - runs.step_a().begin_ns == b.begin_ns - runs.step_b().begin_ns);
  CHECK(a.length() == b.length());
}

TEST_CASE("Both steps are shown whole, whichever is longer") {
  const bool longer_first = GENERATE(true, false);
  TwoRuns runs;
  const QString with_bubbles = runs.recording("naive.mcap", naive), without = runs.recording("gpipe.mcap", gpipe);
  runs.open(longer_first ? with_bubbles : without);
  runs.view->open(longer_first ? without : with_bubbles);
  REQUIRE(wait_until(
      [&] { return runs.view->settled() && runs.view->other().figures().latest()->step.has_value(); }));
  // B's time line fits its own step after its first layout.
  REQUIRE(wait_until([&] {
    return runs.state.visible().length() == runs.view->other_state().visible().length() &&
           runs.state.visible().end_ns >= runs.step_a().end_ns &&
           runs.view->other_state().visible().end_ns >= runs.step_b().end_ns;
  }));
  QTest::qWait(100);  // and stays so
  const TimeRange a = runs.state.visible(), b = runs.view->other_state().visible();
  REQUIRE(runs.step_a().length() != runs.step_b().length());
  CHECK(a.begin_ns <= runs.step_a().begin_ns);
  CHECK(a.end_ns >= runs.step_a().end_ns);
  CHECK(b.begin_ns <= runs.step_b().begin_ns);
  CHECK(b.end_ns >= runs.step_b().end_ns);
  CHECK(a.length() == b.length());
}

TEST_CASE("Zooming the one zooms the other") {
  TwoRuns runs;
  runs.open_both();
  const TimeRange step = runs.step_a();
  runs.state.hold();
  runs.state.set_visible({step.begin_ns + step.length() / 4, step.begin_ns + step.length() / 2});
  const TimeRange b = runs.view->other_state().visible();
  CHECK(b.begin_ns - runs.step_b().begin_ns == step.length() / 4);
  CHECK(b.length() == runs.state.visible().length());
  // And in reverse: B's own time line moved by the keyboard moves A's.
  auto lines = runs.view->findChildren<TimelineView*>();
  REQUIRE(lines.size() == 2);
  REQUIRE(wait_until([&] { return runs.view->settled(); }));
  const TimeRange before = runs.state.visible();
  QTest::keyClick(lines[1], Qt::Key_W);
  const TimeRange after = runs.state.visible();
  CHECK(after.length() < before.length());
  CHECK(after.begin_ns - runs.step_a().begin_ns ==
        runs.view->other_state().visible().begin_ns - runs.step_b().begin_ns);
}

TEST_CASE("The op that is chosen in the one is chosen in the other") {
  TwoRuns runs;
  runs.open_both();
  const OpId op = parse_token("B:c1:m2").value();
  const auto span = [&] {
    for (const Span& any : runs.session.view()->step_spans(Obtained::measured, 1))
      if (any.rank == 1 && any.op.fields().kind == OpKind::backward && any.op.fields().micro_batch == 2) return any;
    FAIL("rank 1 has no backward of micro-batch 2; " << to_token(op));
    return Span{};
  }();
  runs.state.set_selected(SpanRef{1, 1, span.op, Obtained::measured});
  REQUIRE(runs.view->other_state().selected());
  CHECK(runs.view->other_state().selected()->op == span.op);
  runs.state.set_selected({});
  CHECK_FALSE(runs.view->other_state().selected());
}

TEST_CASE("The table says where the time of the longer step went") {
  TwoRuns runs;
  runs.open_both();
  const Figures &a = *runs.session.figures().latest(), &b = *runs.view->other().figures().latest();
  REQUIRE(a.step);
  // Naive stages take turns, so the step is longer, and the difference is bubble.
  CHECK(b.step->seconds() > 1.2 * a.step->seconds());
  const auto rows = compare_rows(a, b, CompareBy::time);
  REQUIRE(rows.size() >= 3);
  CHECK(rows[0][0].words == "whole step");
  CHECK(rows[1][0].words == "bubble");
  CHECK(rows[1][3].words.startsWith("+"));
  CHECK(rows[1][3].tone == Tone::bad);
  CHECK(runs.view->words().contains("longer than that of A"));
  CHECK(runs.view->words().contains("bubble +"));
  for (auto* choice : runs.view->findChildren<QComboBox*>())
    if (choice->accessibleName() == "Steps to compare") choice->setCurrentText(label_of(CompareBy::ranks));
  CHECK(runs.view->rows().rowCount() == 4);
  CHECK(runs.view->rows().words(0, 0) == "rank 0, compute");
  // Both have the same compute time, to the displayed digits.
  CHECK(number_of(runs.view->rows().words(0, 1)) == Approx(number_of(runs.view->rows().words(0, 2))).epsilon(0.02));
}

TEST_CASE("The previous run is compared with the next one automatically, until another is chosen") {
  TwoRuns runs;
  runs.open(runs.recording("gpipe.mcap", gpipe));
  CHECK_FALSE(runs.view->other().there());
  runs.open(runs.recording("naive.mcap", naive));
  REQUIRE(wait_until([&] { return runs.view->other().there(); }));
  CHECK(runs.view->other().view()->hello() != nullptr);
  CHECK(runs.session.previous().there());
  const QString chosen = runs.recording("third.mcap", gpipe);
  runs.view->open(chosen);
  REQUIRE(wait_until([&] { return runs.view->other().there(); }));
  CHECK(runs.view->other().name() == "third.mcap");
  runs.open(runs.recording("gpipe.mcap", gpipe));
  CHECK(runs.view->other().name() == "third.mcap");
}

TEST_CASE("The reason why a recording cannot be read is shown in place of the table") {
  TwoRuns runs;
  runs.open(runs.recording("gpipe.mcap", gpipe));
  runs.view->open("/nowhere/run.mcap");
  CHECK_FALSE(runs.view->other().there());
  CHECK(runs.view->words().contains("/nowhere/run.mcap"));
}

TEST_CASE("Two predictions can be compared without a run") {
  application();
  QTemporaryDir folder;
  QFile file(folder.filePath("small.toml"));
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write(QByteArray::fromStdString(to_toml(small_scenario(gpipe))));
  file.close();
  SharedState state;
  Session session;
  session.open({SourceKind::scenario, file.fileName()});
  REQUIRE(wait_until([&] { return session.state() == SessionState::ready && session.settled(); }));
  Navigator navigator(state, session);
  CompareView view(state, session, navigator);
  view.other().keep(kept_run(session));
  Scenario changed = *session.scenario();
  changed.plan.schedule = "naive";
  session.edit(changed);
  REQUIRE(wait_until([&] { return session.settled() && view.settled() && view.other().figures().latest()->shown(); }));
  const auto rows = compare_rows(*session.figures().latest(), *view.other().figures().latest(), CompareBy::summary);
  REQUIRE_FALSE(rows.empty());
  CHECK(rows[0][1].words == "simulated");
  CHECK(rows[3][0].words == "bubble");
  CHECK(number_of(rows[3][1].words) > number_of(rows[3][2].words));  // A is the naive plan now
}
