// SPDX-License-Identifier: GPL-3.0-or-later
// Find, copy, the menu of an op, the manual and names for screen readers: with real keys and clicks.
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QDialog>
#include <QFile>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPrinter>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBlock>
#include <QTextBrowser>
#include <QToolButton>

#include "app/shell/choice_palette.hpp"
#include "app/shell/main_window.hpp"
#include "app/shell/plan_panel.hpp"
#include "app/shell/stepper.hpp"
#include "app/views/memory/memory_view.hpp"
#include "app/views/program/program_view.hpp"
#include "app/views/timeline/timeline_view.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/app/shell/window.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

QAction* action_for(const MainWindow& window, QKeySequence::StandardKey key) {
  for (QAction* action : window.actions())
    if (action->shortcut().matches(QKeySequence(key)) == QKeySequence::ExactMatch) return action;
  return nullptr;
}

/// Opens the finder with Ctrl+F and types; returns its window.
ChoicePalette* find(MainWindow& window, const QString& words) {
  QAction* action = action_for(window, QKeySequence::Find);
  REQUIRE(action != nullptr);
  action->trigger();
  ChoicePalette* palette = nullptr;
  for (auto* one : window.findChildren<ChoicePalette*>())
    if (one->isVisible()) palette = one;
  REQUIRE(palette != nullptr);
  QTest::keyClicks(palette->findChild<QLineEdit*>(), words);
  return palette;
}

void take_first(ChoicePalette* palette) { QTest::keyClick(palette->findChild<QLineEdit*>(), Qt::Key_Return); }

}  // namespace

TEST_CASE("About names the version, the licence and the engine; a view is printed on a page") {
  const auto window = window_on("recomputation");
  const auto named = [&](const QString& text) {
    QAction* found = nullptr;
    for (QAction* action : window->actions())
      if (action->text() == text) found = action;
    return found;
  };
  QAction* about = named("About Rankscope");
  REQUIRE(about != nullptr);
  about->trigger();
  auto* box = window->findChild<QMessageBox*>();
  REQUIRE(box != nullptr);
  CHECK(box->isVisible());
  CHECK(box->text().contains("Rankscope " + QApplication::applicationVersion()));
  CHECK(box->text().contains("Apache-2.0"));
  CHECK(box->text().contains("Engine: "));
  box->close();

  CHECK(named("Print this view…") != nullptr);
  const QTemporaryDir folder;
  QPrinter printer(QPrinter::HighResolution);
  printer.setOutputFormat(QPrinter::PdfFormat);
  printer.setOutputFileName(folder.filePath("view.pdf"));
  window->print_on(printer);
  QFile page(folder.filePath("view.pdf"));
  REQUIRE(page.open(QIODevice::ReadOnly));
  CHECK(page.read(5) == "%PDF-");
  CHECK(page.size() > 10'000);  // an empty page is a tenth of that
  // The window has its own theme again.
  CHECK(window->grab().toImage().pixelColor(2, 2).lightness() < 100);
}

TEST_CASE("Ctrl+F finds an op, selects it and brings it on the screen") {
  const auto window = window_on("pipeline-1f1b");
  auto* palette = find(*window, "B:c2:m3:b5.qkv");
  REQUIRE(palette->shown().size() == 1);
  take_first(palette);
  const auto chosen = window->state().selected();
  REQUIRE(chosen.has_value());
  CHECK(chosen->rank == 2);
  CHECK(to_token(chosen->op) == "B:c2:m3:b5.qkv");
  const auto span = window->session().view()->find(chosen->rank, chosen->step, chosen->op, chosen->obtained);
  REQUIRE(span.has_value());
  CHECK(window->state().visible().begin_ns <= span->begin_ns);
  CHECK(window->state().visible().end_ns >= span->end_ns);
}

TEST_CASE("Ctrl+F finds a tensor and shows the memory of its rank; a lesson is opened; nonsense is answered in words") {
  const auto window = window_on("pipeline-1f1b");
  take_first(find(*window, "h.6.mlp.c_fc.weight parameters"));
  auto* memory = dynamic_cast<MemoryView*>(window->view_named("memory"));
  REQUIRE(memory != nullptr);
  CHECK(memory->rank() == 3);
  auto* nothing = find(*window, "no such thing");
  CHECK(nothing->shown().isEmpty());
  CHECK_FALSE(nothing->note().isEmpty());
  nothing->close();
  take_first(find(*window, "gpipe"));
  CHECK(wait_until([&] { return window->session().spec().text.contains("pipeline-gpipe"); }));
}

TEST_CASE("Ctrl+C copies the selected op with its details, and a view's table where nothing is selected") {
  const auto window = window_on("pipeline-1f1b");
  take_first(find(*window, "F:c1:m2:b2.qkv"));
  REQUIRE(wait_until([&] { return window->settled(); }));
  action_for(*window, QKeySequence::Copy)->trigger();
  const QString op = QApplication::clipboard()->text();
  INFO(op.toStdString());
  CHECK(op.contains("rank 1"));
  CHECK(op.contains('\n'));
  window->state().set_selected(std::nullopt);
  action_for(*window, QKeySequence::Copy)->trigger();
  const QStringList table = QApplication::clipboard()->text().split('\n');
  REQUIRE(table.size() > 10);
  CHECK(table.front().split('\t').contains("op"));
  CHECK(table[1].count('\t') == table.front().count('\t'));
}

TEST_CASE("the menu of an op, on a right click, shows it in the program") {
  const auto window = window_on("pipeline-1f1b");
  auto* timeline = dynamic_cast<TimelineView*>(window->view_named("timeline"));
  take_first(find(*window, "F:c1:m2:b2.qkv"));
  REQUIRE(wait_until([&] { return window->settled(); }));
  const auto chosen = *window->state().selected();
  const auto span = *window->session().view()->find(chosen.rank, chosen.step, chosen.op, chosen.obtained);
  window->state().set_selected(std::nullopt);
  const QPoint at = timeline->point_of(1, (span.begin_ns + span.end_ns) / 2);
  QContextMenuEvent click(QContextMenuEvent::Mouse, at, timeline->mapToGlobal(at));
  QApplication::sendEvent(timeline, &click);
  auto* menu = timeline->findChild<QMenu*>();
  REQUIRE(menu != nullptr);
  REQUIRE(window->state().selected().has_value());
  CHECK(window->state().selected()->rank == 1);
  for (QAction* action : menu->actions())
    if (action->text() == "Show it in the program") action->trigger();
  menu->close();
  auto* program = dynamic_cast<ProgramView*>(window->view_named("program"));
  const QString line = program->editor().textCursor().block().text();
  INFO(line.toStdString());
  CHECK(line.contains(QString::fromStdString(to_token(window->state().selected()->op))));
}

TEST_CASE("sliders and buttons of the plan name their field to a screen reader") {
  const auto window = window_on("pipeline-1f1b");
  int steppers = 0;
  for (const auto* stepper : window->plan_panel().findChildren<Stepper*>()) {
    ++steppers;
    const QString field = const_cast<Stepper*>(stepper)->box()->accessibleName();
    REQUIRE_FALSE(field.isEmpty());
    for (const auto* button : stepper->findChildren<QToolButton*>()) CHECK(button->accessibleName().contains(field));
    for (const auto* slider : stepper->findChildren<QSlider*>()) CHECK(slider->accessibleName().contains(field));
  }
  CHECK(steppers > 5);
}

TEST_CASE("F1 opens the manual, and a word is found in it") {
  const auto window = window_on("pipeline-1f1b");
  action_for(*window, QKeySequence::HelpContents)->trigger();
  QDialog* manual = nullptr;
  for (auto* one : window->findChildren<QDialog*>())
    if (one->isVisible() && one->findChild<QTextBrowser*>() != nullptr) manual = one;
  REQUIRE(manual != nullptr);
  auto* text = manual->findChild<QTextBrowser*>();
  CHECK(text->toPlainText().contains("Ten minutes"));
  auto* line = manual->findChild<QLineEdit*>();
  line->setText("bubble_span");
  QTest::keyClick(line, Qt::Key_Return);
  CHECK(text->textCursor().selectedText() == "bubble_span");
  manual->close();
}
