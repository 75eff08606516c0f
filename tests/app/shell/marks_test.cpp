// SPDX-License-Identifier: GPL-3.0-or-later
// Marks in the window: made, seen, found, shown, changed, deleted, undone, and saved in the recording.
#include <QContextMenuEvent>
#include <QDialogButtonBox>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>

#include "app/shell/banner.hpp"
#include "app/shell/view_history.hpp"
#include "app/views/timeline/timeline_view.hpp"
#include "telemetry/trace/trace_reader.hpp"
#include "tests/app/painted_text.hpp"
#include "tests/app/session/recording.hpp"
#include "tests/app/shell/window.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

std::unique_ptr<MainWindow> window_on_recording(const QString& path) {
  auto window = empty_window();
  window->open(path);
  REQUIRE(wait_until([&] {
    return window->session().state() == SessionState::ended && window->settled() && window->marks().can_mark();
  }));
  return window;
}

TimelineView& timeline_of(MainWindow& window) { return dynamic_cast<TimelineView&>(*window.view_named("timeline")); }

QDialog* open_dialog(MainWindow& window) {
  for (auto* dialog : window.findChildren<QDialog*>())
    if (dialog->isVisible() && dialog->findChild<QDialogButtonBox*>() != nullptr) return dialog;
  return nullptr;
}

/// Enters that note in the field that Ctrl+D opens, and Enter.
void write_note(MainWindow& window, const QString& note) {
  QDialog* dialog = open_dialog(window);
  REQUIRE(dialog != nullptr);
  auto* line = dialog->findChild<QLineEdit*>();
  line->selectAll();
  QTest::keyClicks(line, note);
  QTest::keyClick(line, Qt::Key_Return);
}

/// Keys go to the window: without a window manager it does not get the keyboard focus back from a dialog by itself.
void press(MainWindow& window, const QKeySequence& keys) {
  window.activateWindow();
  REQUIRE(wait_until([&] { return window.isActiveWindow(); }));
  QTest::keySequence(&window, keys);
}

void press_mark(MainWindow& window) { press(window, Qt::CTRL | Qt::Key_D); }

/// The notes in the file, after everything is saved.
std::vector<std::string> notes_in(MainWindow& window, const QString& path) {
  REQUIRE(wait_until([&] { return window.settled(); }));
  std::vector<std::string> notes;
  for (const TraceMark& mark : read_trace_info(path.toStdString()).marks) notes.push_back(mark.text);
  return notes;
}

SpanRef some_op(MainWindow& window) {
  const auto spans = window.session().view()->step_spans(Obtained::measured, 2);
  for (const Span& span : spans)
    if (span.rank == 1 && span.op.fields().kind == OpKind::backward) return {1, 2, span.op, Obtained::measured};
  FAIL("no backward on rank 1");
  return {};
}

/// The position of a mark's flag.
QPoint flag_of(TimelineView& view, const TraceMark& mark) {
  return {view.point_of(0, mark.time.begin_ns).x() + 2, view.layout_now().axis.top() - 4};
}

using Notes = std::vector<std::string>;

}  // namespace

TEST_CASE("Ctrl+D marks the selected op; the note is in the recording and can be found and visited") {
  const QTemporaryDir folder;
  const QString path = record(folder.filePath("run.mcap"), small_scenario(), 6);
  TraceMark mark;
  {
    const auto window = window_on_recording(path);
    window->state().set_selected(some_op(*window));
    press_mark(*window);
    write_note(*window, "waits here, why?");
    REQUIRE(notes_in(*window, path) == Notes{"waits here, why?"});
    mark = window->marks().marks().front();
    CHECK(mark.rank == 1);
    CHECK(mark.step == 2u);
  }
  const auto window = window_on_recording(path);
  auto& timeline = timeline_of(*window);
  REQUIRE(window->marks().marks() == std::vector{mark});
  // Found by its text, and shown.
  press(*window, Qt::CTRL | Qt::SHIFT | Qt::Key_D);
  ChoicePalette* list = window->findChild<ChoicePalette*>();
  REQUIRE(list != nullptr);
  CHECK(list->shown() == QStringList{"waits here, why?"});
  QTest::keyClicks(list->findChild<QLineEdit*>(), "why rank");
  QTest::keyClick(list->findChild<QLineEdit*>(), Qt::Key_Return);
  REQUIRE(window->state().selected() == some_op(*window));
  CHECK(window->state().step() == 2u);
  CHECK(window->state().visible().begin_ns < mark.time.begin_ns);
  CHECK(window->state().visible().end_ns > mark.time.end_ns);
  // Its flag shows it, and a click on it also moves there.
  REQUIRE(wait_until([&] { return window->settled(); }));
  QTest::mouseMove(&timeline, flag_of(timeline, mark) - QPoint(0, 3));
  QTest::mouseMove(&timeline, flag_of(timeline, mark));
  REQUIRE(timeline.scene().hover.has_value());
  CHECK(timeline.scene().hover->details.title == "waits here, why?");
  window->state().set_selected(std::nullopt);
  QTest::mouseClick(&timeline, Qt::LeftButton, {}, flag_of(timeline, mark));
  CHECK(window->state().selected() == some_op(*window));
}

TEST_CASE("A mark is changed, deleted and restored, and the recording is changed accordingly") {
  const QTemporaryDir folder;
  const QString path = record(folder.filePath("run.mcap"), small_scenario(), 6);
  const auto window = window_on_recording(path);
  auto& timeline = timeline_of(*window);
  window->state().set_selected_range({1000, 9000});
  press_mark(*window);
  write_note(*window, "first");
  CHECK(notes_in(*window, path) == Notes{"first"});
  CHECK(window->marks().marks().front().time == TimeRange{1000, 9000});
  press_mark(*window);  // the same range: the same mark
  write_note(*window, "second");
  CHECK(notes_in(*window, path) == Notes{"second"});
  REQUIRE(wait_until([&] { return !window->findChild<ViewHistory*>()->pending(); }));  // a state to return to
  press_mark(*window);
  REQUIRE(open_dialog(*window) != nullptr);
  button_named(*open_dialog(*window), "Delete")->click();
  CHECK(notes_in(*window, path).empty());
  press(*window, QKeySequence::Undo);
  CHECK(notes_in(*window, path) == Notes{"second"});
  press(*window, QKeySequence::Redo);
  CHECK(notes_in(*window, path).empty());
  // A moment, with the menu of the time line; and removed with its flag's menu.
  window->state().set_selected_range({});
  window->state().set_step(3);
  REQUIRE(wait_until([&] { return window->settled(); }));
  const auto choose = [&](QPoint at, const QString& name) {
    QContextMenuEvent click(QContextMenuEvent::Mouse, at, timeline.mapToGlobal(at));
    QApplication::sendEvent(&timeline, &click);
    for (QMenu* menu : timeline.findChildren<QMenu*>()) {
      if (!menu->isVisible()) continue;
      for (QAction* action : menu->actions())
        if (action->text() == name) {
          action->trigger();
          menu->close();
          return;
        }
      menu->close();
    }
    FAIL("no entry " << name.toStdString());
  };
  choose(timeline.layout_now().axis.center(), "Mark this moment…");
  write_note(*window, "a moment");
  REQUIRE(notes_in(*window, path) == Notes{"a moment"});
  const TraceMark moment = window->marks().marks().front();
  CHECK(moment.time.empty());
  choose(flag_of(timeline, moment), "Change the note…");
  write_note(*window, "another");
  REQUIRE(notes_in(*window, path) == Notes{"another"});
  choose(flag_of(timeline, moment), "Delete this mark");
  CHECK(notes_in(*window, path).empty());
}

TEST_CASE("A recording that cannot store marks gives the reason: write-protected, a prediction") {
  const QTemporaryDir folder;
  const QString path = record(folder.filePath("run.mcap"), small_scenario(), 3);
  const auto window = window_on_recording(path);
  REQUIRE(QFile::setPermissions(path, QFile::ReadOwner));
  window->state().set_selected_range({1000, 9000});
  press_mark(*window);
  write_note(*window, "in vain");
  REQUIRE(wait_until([&] { return window->settled(); }));
  CHECK(window->banner().text("mark").contains("write-protected"));
  CHECK(window->marks().marks().empty());
  CHECK(read_trace_info(path.toStdString()).marks.empty());

  window->open(QStringLiteral("pipeline-1f1b"));
  REQUIRE(is_ready(*window));
  CHECK(window->banner().text("mark").isEmpty());
  press_mark(*window);
  CHECK(window->banner().text("mark").contains("this run is not recorded"));
  CHECK(open_dialog(*window) == nullptr);
}

TEST_CASE("A run that was recorded here can be marked once it has ended, and its recording has the mark") {
  const QTemporaryDir folder;
  SessionOptions options = real_engine();
  options.recordings_folder = folder.filePath("recordings");
  QDir().mkpath(options.recordings_folder);
  const auto window = window_on_lab(write_file(folder, "small.toml", small_plan(3)), options);
  window->session().run();
  press_mark(*window);
  CHECK(window->banner().text("mark").contains("wait until the run has ended"));
  REQUIRE(wait_until([&] { return window->session().state() == SessionState::ended && window->marks().can_mark(); },
                     120000));
  window->state().set_selected_range(window->state().visible());
  press_mark(*window);
  write_note(*window, "all of it");
  const QString recording = window->session().recording();
  CHECK(notes_in(*window, recording) == Notes{"all of it"});
  const auto other = window_on_recording(recording);
  CHECK(other->marks().marks().size() == 1);
}
