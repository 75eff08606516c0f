// SPDX-License-Identifier: GPL-3.0-or-later
// Opening, changing the plan and undo show the old content or the new one, never a mixture.
#include <QAction>
#include <QSpinBox>
#include <QTcpServer>
#include <set>

#include "app/shell/banner.hpp"
#include "app/shell/plan_panel.hpp"
#include "app/shell/status_line.hpp"
#include "app/shell/top_bar.hpp"
#include "app/views/memory/memory_view.hpp"
#include "app/views/timeline/timeline_view.hpp"
#include "engine/plan/scenario/read.hpp"
#include "telemetry/trace/trace_reader.hpp"
#include "tests/app/painted_text.hpp"
#include "tests/app/session/recording.hpp"
#include "tests/app/shell/window.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

const QString opening = QStringLiteral("opening"), damage = QStringLiteral("damage");

bool ended(MainWindow& window) {
  return wait_until(
      [&] {
        return window.session().state() == SessionState::ended && window.settled() &&
               window.session().figures().latest()->run;
      },
      120000);
}

/// An address with a listener that never sends anything.
struct Silent {
  Silent() { REQUIRE(server.listen(QHostAddress::LocalHost)); }
  QString address() const { return QStringLiteral("tcp://127.0.0.1:%1").arg(server.serverPort()); }
  QTcpServer server;
};

bool paints(QWidget& view, const QString& words) {
  for (const PaintedText& text : painted_texts(view))
    if (text.words.contains(words)) return true;
  return false;
}

/// A change of the plan, as made by its field.
void set_number(MainWindow& window, const char* name, int value) {
  auto* field = qobject_cast<Stepper*>(window.plan_panel().field_named(name));
  REQUIRE(field != nullptr);
  field->box()->setFocus();
  field->box()->selectAll();
  QTest::keyClicks(field->box(), QString::number(value));
  QTest::keyClick(field->box(), Qt::Key_Return);
}

void press_undo(MainWindow& window) { QTest::keyClick(&window, Qt::Key_Z, Qt::ControlModifier); }

/// The complete shown step is visible, and not much else.
bool fits_step(MainWindow& window) {
  const auto& state = window.state();
  if (!state.step()) return false;
  const auto range = window.session().view()->step_range(state.shown(), *state.step());
  const TimeRange seen = state.visible();
  return range && seen.begin_ns <= range->begin_ns && seen.end_ns >= range->end_ns &&
         seen.length() < range->length() * 11 / 10;
}

}  // namespace

TEST_CASE("A source that cannot be opened leaves the open recording unchanged, and a banner gives the reason") {
  const QTemporaryDir folder;
  SessionOptions options;
  options.connect_limit_ms = 1200;
  const auto window = empty_window(options);
  window->open(record(folder.filePath("run.mcap"), small_scenario(), 6));
  REQUIRE(ended(*window));
  MainWindow& w = *window;
  w.state().hold();
  w.state().set_step(2);
  const TimeRange step = *w.session().view()->step_range(w.state().shown(), 2);
  w.state().set_visible({step.begin_ns + step.length() / 4, step.begin_ns + step.length() / 2});
  const Span span = w.session().view()->step_spans(w.state().shown(), 2).front();
  w.state().set_selected(SpanRef{span.rank, 2, span.op, w.state().shown()});
  const auto view = w.session().view();
  const TimeRange visible = w.state().visible();
  const QString title = w.windowTitle();

  const Silent silent;
  const std::vector<std::pair<QString, QString>> wrong{
      {folder.filePath("gone.mcap"), "gone.mcap"},
      {write_file(folder, "junk.mcap", QByteArray(3000, 'x')), "junk.mcap"},
      {write_file(folder, "bad.toml", "[model]\nlayerz = 3\n"), "bad.toml"},
      {write_file(folder, "picture.png", "not a picture"), "picture.png"},
      {"tcp://nowhere", "tcp://nowhere"},
      {silent.address(), silent.address()}};
  for (const auto& [source, name] : wrong) {
    INFO(source.toStdString());
    w.open(source);
    REQUIRE(wait_until([&] { return w.banner().is_error(opening); }));
    const QString words = w.banner().text(opening);
    CHECK(words.startsWith("Could not open " + name + ": "));
    CHECK(words.size() > name.size() + 25);  // there is a reason
    CHECK_FALSE(words.contains('\n'));
    CHECK(w.session().state() == SessionState::ended);
    CHECK(w.session().view()->event_count() == view->event_count());
    CHECK(w.session().label() == SourceLabel::recorded);
    CHECK(w.state().visible() == visible);
    CHECK(w.state().step() == 2u);
    CHECK(w.state().selected().has_value());
    CHECK(w.windowTitle() == title);
    CHECK(w.session().failure().isEmpty());
  }
  w.open("pipeline-1f1b");
  REQUIRE(is_ready(w));
  CHECK(w.banner().text(opening).isEmpty());
}

TEST_CASE("A silent address shows the waiting time, is not shown as live, and ends with a reason") {
  const Silent silent;
  SessionOptions options;
  options.connect_limit_ms = 6500;
  const auto window = empty_window(options);
  auto* timeline = static_cast<TimelineView*>(window->view_named("timeline"));
  window->open(silent.address());
  REQUIRE(wait_until([&] { return window->banner().text(opening).contains(" s, no answer yet)"); }));
  CHECK(window->banner().text(opening).startsWith("Connecting to " + silent.address()));
  CHECK(paints(*timeline, "Connecting to " + silent.address()));
  CHECK_FALSE(window->top_bar().source_text().contains("LIVE"));
  REQUIRE(wait_until([&] { return window->banner().is_error(opening); }));
  CHECK(window->banner().text(opening).contains("no answer for 6.5 s"));
  CHECK(paints(*timeline, "Could not open " + silent.address()));
  CHECK(button_named(window->banner(), "Try again") != nullptr);
}

TEST_CASE("Connecting can be cancelled, and what was open stays open") {
  const Silent silent;
  const auto window = window_on_lab("pipeline-1f1b");
  window->open(silent.address());
  QAbstractButton* cancel = nullptr;
  REQUIRE(wait_until([&] { return (cancel = button_named(window->banner(), "Cancel")) != nullptr; }));
  QTest::mouseClick(cancel, Qt::LeftButton);
  REQUIRE(wait_until([&] { return window->session().opening().kind == SourceKind::none; }));
  CHECK(window->session().state() == SessionState::ready);
  CHECK(window->banner().text(opening).isEmpty());
}

TEST_CASE("A recording that was cut opens with a banner that says what is missing, as the tools do") {
  const QTemporaryDir folder;
  QFile whole(record(folder.filePath("run.mcap"), small_scenario(), 200));
  REQUIRE(whole.open(QIODevice::ReadOnly));
  const QByteArray bytes = whole.readAll();
  const QString cut = write_file(folder, "cut.mcap", bytes.left(bytes.size() * 3 / 4));
  const auto window = empty_window();
  window->open(cut);
  REQUIRE(ended(*window));
  RunStore store;
  DamageReport report;
  read_trace(cut.toStdString(), store, {}, &report);
  REQUIRE_FALSE(report.notes.empty());
  const QString words = window->banner().text(damage);
  CHECK(words.startsWith("cut.mcap is "));
  for (std::size_t i = 0; i < report.notes.size() && i < 3; ++i)
    CHECK(words.contains(QString::fromStdString(report.notes[i])));
  // The next one is complete.
  window->open(whole.fileName());
  REQUIRE(wait_until([&] { return window->windowTitle().startsWith("run.mcap"); }));
  CHECK(window->banner().text(damage).isEmpty());
}

TEST_CASE("After a change of the plan the time line shows the new step, completely or the same part of it") {
  const auto window = window_on_lab("pipeline-1f1b");
  MainWindow& w = *window;
  REQUIRE(fits_step(w));
  for (const int stages : {3, 8, 2, 4}) {
    INFO(stages);
    set_number(w, "pipeline", stages);
    REQUIRE(wait_until([&] { return w.session().predicted()->scenario.plan.pipeline == stages && w.settled(); }));
    CHECK(fits_step(w));
  }
  const TimeRange before = *w.session().view()->step_range(Obtained::simulated, 1);
  w.state().hold();
  w.state().set_visible({before.begin_ns + before.length() / 4, before.begin_ns + before.length() / 2});
  set_number(w, "micro-batches", 16);
  REQUIRE(wait_until([&] { return w.session().predicted()->scenario.plan.micro_batches == 16 && w.settled(); }));
  const TimeRange after = *w.session().view()->step_range(Obtained::simulated, 1);
  const TimeRange seen = w.state().visible();
  CHECK(static_cast<double>(seen.begin_ns - after.begin_ns) / static_cast<double>(after.length()) ==
        Approx(0.25).margin(0.001));
  CHECK(static_cast<double>(seen.end_ns - after.begin_ns) / static_cast<double>(after.length()) ==
        Approx(0.5).margin(0.001));
}

TEST_CASE("No table and no list is of another plan than the picture, at any moment of a change") {
  const QTemporaryDir folder;
  const auto window = empty_window();
  window->resize(1600, 900);
  window->open(write_file(folder, "plain.toml", small_plan(5)));
  REQUIRE(is_ready(*window));
  auto* memory = window->findChild<MemoryView*>();
  window->view_named("memory");
  REQUIRE(wait_until([&] { return window->settled() && !memory->alive().buffers.empty(); }));
  Session& session = window->session();
  int looks = 0;
  QObject::connect(&session, &SnapshotSource::changed, window.get(), [&] {
    const Hello* hello = session.view()->hello();
    if (hello == nullptr || !session.figures().latest()->predicted) return;
    ++looks;
    const Scenario shown = parse_recorded_scenario(hello->scenario_toml);
    CHECK(session.figures().latest()->predicted->plan == shown.plan);
    const auto program = session.insights().program(0);
    REQUIRE(program != nullptr);
    CHECK(to_text(*program) == session.view()->program(0)->text);
  });
  for (const int parts : {8, 2, 16}) {
    INFO(parts);
    set_number(*window, "micro-batches", parts);
    REQUIRE(wait_until([&] { return session.predicted()->scenario.plan.micro_batches == parts && window->settled(); }));
    // The list is the new program's, though the op at the peak may have the same name.
    const AliveList& list = memory->alive();
    const auto program = session.insights().program(list.rank);
    const auto place = index_of(*program, list.op);
    REQUIRE(place);
    CHECK(list.buffers.size() == alive_at(*program, *place).size());
    CHECK(list.program == program);
  }
  CHECK(looks >= 3);
}

TEST_CASE("Undo brings back the run, the plan, the zoom and the selection together, and redo the other plan") {
  const QTemporaryDir folder;
  const auto window = empty_window(real_engine());
  MainWindow& w = *window;
  w.open(write_file(folder, "plain.toml", small_plan(5)));
  REQUIRE(is_ready(w));
  w.session().run();
  REQUIRE(ended(w));
  const double measured = w.session().figures().latest()->run->step_seconds;
  const Obtained shown = w.state().shown();
  const std::uint32_t number = w.session().view()->steps(shown)[1];
  const TimeRange step = *w.session().view()->step_range(shown, number);
  w.state().hold();
  w.state().set_step(number);
  w.state().set_visible({step.begin_ns + step.length() / 4, step.begin_ns + step.length() / 2});
  const Span span = w.session().view()->step_spans(shown, number).front();
  w.state().set_selected(SpanRef{span.rank, number, span.op, shown});
  const TimeRange visible = w.state().visible();
  const QString cell = w.plan_panel().cell_text(PlanRow::step, 2);
  CHECK(cell.contains("s"));
  QTest::qWait(600);

  set_number(w, "micro-batches", 8);
  REQUIRE(wait_until([&] { return w.session().label() == SourceLabel::simulated && w.settled(); }));
  CHECK(w.session().predicted()->scenario.plan.micro_batches == 8);
  QTest::qWait(600);
  press_undo(w);
  // Immediately: nothing has to be computed again.
  CHECK(w.session().scenario()->plan.micro_batches == 4);
  CHECK(w.session().label() == SourceLabel::ended);
  CHECK(w.state().shown() == shown);
  CHECK(w.state().step() == number);
  CHECK(w.state().visible() == visible);
  REQUIRE(w.state().selected());
  CHECK(w.state().selected()->op == span.op);
  REQUIRE(w.session().figures().latest()->run);
  CHECK(w.session().figures().latest()->run->step_seconds == measured);
  CHECK(w.plan_panel().cell_text(PlanRow::step, 2) == cell);
  REQUIRE(wait_until([&] { return w.settled(); }));
  QTest::qWait(300);
  CHECK(w.state().visible() == visible);
  CHECK(w.session().can_run());
  for (QAction* action : w.actions())
    if (action->text() == "Redo") action->trigger();
  CHECK(w.session().scenario()->plan.micro_batches == 8);
  CHECK(w.session().label() == SourceLabel::simulated);
}

TEST_CASE("In a field of the plan, Ctrl+Z takes back what is typed, and else the plan's last change") {
  const auto window = window_on_lab("pipeline-1f1b");
  auto* box = qobject_cast<Stepper*>(window->plan_panel().field_named("micro-batches"))->box();
  const auto plan = [&] { return window->session().scenario()->plan.micro_batches; };
  set_number(*window, "micro-batches", 16);
  REQUIRE(plan() == 16);
  REQUIRE(wait_until([&] { return window->settled(); }));
  QTest::qWait(600);
  box->setFocus();
  REQUIRE(wait_until([&] { return QApplication::focusWidget() == box; }));
  box->selectAll();
  QTest::keyClicks(box, "7");
  QTest::keyClick(box, Qt::Key_Z, Qt::ControlModifier);
  CHECK(plan() == 16);
  QTest::keyClick(box, Qt::Key_Return);
  QTest::qWait(600);
  REQUIRE(plan() == 16);
  QTest::keyClick(box, Qt::Key_Z, Qt::ControlModifier);
  CHECK(plan() == 8);
  CHECK(box->value() == 8);
}
