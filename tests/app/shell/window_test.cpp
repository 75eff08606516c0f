// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAction>
#include <QDialog>
#include <QLineEdit>
#include <QMouseEvent>
#include <QPushButton>
#include <QScrollBar>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include "app/lesson/lab_panel.hpp"
#include "app/shell/command_line.hpp"
#include "app/shell/command_palette.hpp"
#include "app/shell/main_window.hpp"
#include "app/shell/plan_panel.hpp"
#include "app/shell/status_line.hpp"
#include "app/shell/top_bar.hpp"
#include "app/shell/workspace.hpp"
#include "app/views/common/style.hpp"
#include "app/views/memory/memory_view.hpp"
#include "app/views/paths/paths_view.hpp"
#include "app/views/range/range_view.hpp"
#include "app/views/timeline/timeline_view.hpp"
#include "engine/explain/analyse/report_value.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/app/shell/window.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

TEST_CASE("A lab opens with its lesson, its prediction, and its answers hidden") {
  const QTemporaryDir folder;
  const auto window = window_on(write_file(folder, "l.toml", small_lesson(bubble_question)));
  CHECK(window->top_bar().source_text().startsWith("SIMULATED · predicted"));
  CHECK(window->status_line().left_text().contains("2 ranks"));
  REQUIRE(window->lab_panel().answers().size() == 1);
  CHECK(window->plan_panel().cell_text(PlanRow::bubble, 0) == "?");
  CHECK(window->plan_panel().cell_text(PlanRow::step, 1).contains("s"));
}

TEST_CASE("Keeping a guess before the run does not open the answer") {
  const QTemporaryDir folder;
  const auto window = window_on(write_file(folder, "l.toml", small_lesson(bubble_question)));
  LabPanel& lab = window->lab_panel();
  lab.keep(0, 27.0);
  CHECK(lab.answers()[0].guess() == 27.0);
  CHECK_FALSE(lab.answers()[0].open());
  CHECK(window->plan_panel().cell_text(PlanRow::bubble, 1) == "?");
}

TEST_CASE("No lesson is wider than its panel, with all its questions") {
  application().setFont(interface_font());
  FiguresModel figures;
  LabPanel panel(figures);
  panel.resize(280, 700);
  panel.show();
  REQUIRE(all_labs().size() >= 10);
  for (const Lab& lab : all_labs()) {
    panel.set_lab(lab, QString::fromStdString(lab.title), QString::fromStdString(lab.summary));
    QTest::qWait(5);
    INFO(lab.file);
    CHECK(panel.widget()->minimumSizeHint().width() <= panel.viewport()->width());
    CHECK(panel.widget()->width() <= panel.viewport()->width());
    for (auto* box : panel.findChildren<QLineEdit*>()) {
      box->setText(QStringLiteral("37,000.00"));
      INFO(box->text().toStdString() << " in " << box->width());
      CHECK(box->width() >= box->fontMetrics().horizontalAdvance(box->text()) + 18);  // with the style's padding
    }
    for (auto* button : panel.findChildren<QPushButton*>()) {
      INFO(button->text().toStdString());
      CHECK(button->width() >= button->sizeHint().width());
      CHECK_FALSE(button->text().contains(QString::fromUtf8("…")));
    }
  }
}

TEST_CASE("The lesson scrolls to its questions, and does not scroll when an answer is submitted") {
  const QTemporaryDir folder;
  const auto window = window_on(write_file(folder, "l.toml", small_lesson(bubble_question + memory_question)));
  LabPanel& lab = window->lab_panel();
  REQUIRE(lab.answers().size() >= 2);
  const auto way = [&]() -> QPushButton* {
    for (auto* button : lab.findChildren<QPushButton*>())
      if (button->text().endsWith(QString::fromUtf8("before you run ↓"))) return button;
    return nullptr;
  };
  REQUIRE(way());
  CHECK(way()->text().startsWith(QString::number(lab.answers().size())));
  QTest::mouseClick(way(), Qt::LeftButton);
  const int at = lab.verticalScrollBar()->value();
  CHECK(at > 100);
  lab.keep(0, 27.0);
  QTest::qWait(50);
  CHECK(std::abs(lab.verticalScrollBar()->value() - at) < 40);  // the removed link may have been a line
  answer_all(lab, 27);
  QTest::qWait(50);
  CHECK_FALSE(way());
  window->open("data-parallel");
  REQUIRE(wait_until([&] { return window->session().state() == SessionState::ready && window->settled(); }));
  CHECK(lab.verticalScrollBar()->value() == 0);
}

TEST_CASE(
    "A lesson on a machine that is not available is answered by the simulation, and its answers stay when the plan "
    "changes") {
  // The same plan on a machine that is not here.
  const QTemporaryDir folder;
  const QByteArray away = small_lesson(bubble_question).replace("[lab]", "[cluster]\nspec = \"selene\"\n[lab]");
  const auto window = window_on(write_file(folder, "l.toml", away));
  LabPanel& lab = window->lab_panel();
  REQUIRE(lab.answers().size() == 1);
  CHECK_FALSE(lab.answers()[0].open());
  lab.keep(0, 99.0);
  CHECK(lab.answers()[0].accepts_try());  // the simulation has judged it
  lab.keep(0, 99.0);
  const Report& predicted = *window->session().figures().latest()->predicted;
  REQUIRE(lab.answers()[0].open());
  CHECK(*lab.answers()[0].result_number() == *value_at(predicted, "bubble.predicted") * 100);
  const std::vector<double> answers{*lab.answers()[0].result_number()};
  CHECK_FALSE(window->plan_panel().cell_text(PlanRow::step, 1).contains('?'));
  Scenario other = *window->session().scenario();
  other.plan.micro_batches *= 2;
  window->session().edit(other);
  REQUIRE(wait_until([&] { return window->session().state() == SessionState::ready && window->settled(); }));
  for (std::size_t i = 0; i < answers.size(); ++i) CHECK(lab.answers()[i].result_number() == answers[i]);
}

TEST_CASE("A lesson of optimizers' paths opens their view, and is answered by them without a run") {
  const auto window = window_on("optimizer-paths");
  LabPanel& lab = window->lab_panel();
  auto* paths = window->findChild<PathsView*>();
  REQUIRE(paths != nullptr);
  REQUIRE(wait_until([&] { return window->workspace().in_front(paths); }));
  CHECK(paths->veiled());
  REQUIRE_FALSE(lab.answers().empty());
  answer_all(lab, 41);
  REQUIRE(wait_until([&] {
    answer_all(lab, 41);
    return std::all_of(lab.answers().begin(), lab.answers().end(), [](const Answer& answer) { return answer.open(); });
  }));
  CHECK_FALSE(paths->veiled());
  CHECK(window->session().state() == SessionState::ready);  // nothing ran
  // The link of the last answer shows its subject.
  std::vector<QPushButton*> links;
  for (auto* button : lab.findChildren<QPushButton*>())
    if (button->text() == "Show these paths") links.push_back(button);
  REQUIRE(!links.empty());
  PathRequest shown;
  for (const Answer& answer : lab.answers())
    if (answer.of_paths()) shown = *answer.question.paths;
  links.back()->click();
  REQUIRE(wait_until(
      [&] { return paths->settled() && paths->paths() && paths->paths()->request.surface == shown.surface; }));
  // The keys for playing are the paths' own while these have the focus.
  window->activateWindow();
  paths->setFocus();
  REQUIRE(wait_until([&] { return QApplication::focusWidget() == paths; }));
  const auto selected = window->state().selected();
  paths->player().set_step(5);
  QTest::keyClick(paths, Qt::Key_Period);
  CHECK(paths->player().step() == 6);
  CHECK(window->state().selected() == selected);
  const TimeRange before = window->state().visible();
  QTest::keyClick(paths, Qt::Key_W);  // the others stay the time line's
  const TimeRange after = window->state().visible();
  CHECK(after.end_ns - after.begin_ns < before.end_ns - before.begin_ns);
}

TEST_CASE("Every view that a lesson opens exists") {
  for (const Lab& lab : all_labs()) {
    INFO(lab.file);
    CHECK((lab.view.empty() || view_names().contains(QString::fromStdString(lab.view).section('?', 0, 0))));
  }
}

TEST_CASE("The time line's keys work wherever the focus is, and step through the steps") {
  const auto window = window_on("pipeline-1f1b");
  const auto steps = window->session().view()->steps(Obtained::simulated);
  REQUIRE(steps.size() >= 2);
  REQUIRE(window->state().step().has_value());
  const auto here = std::find(steps.begin(), steps.end(), *window->state().step());
  REQUIRE(here != steps.end());
  REQUIRE(here != steps.begin());
  QWidget* memory = window->view_named("memory");
  memory->setFocusPolicy(Qt::StrongFocus);
  window->activateWindow();
  memory->setFocus();
  REQUIRE(wait_until([&] { return QApplication::focusWidget() == memory; }));
  QTest::keyClick(memory, Qt::Key_BracketLeft);
  CHECK(wait_until([&] { return window->state().step() == *(here - 1); }));
}

TEST_CASE("Choosing a range with Shift and the pointer brings its table to the front") {
  const auto window = window_on("recomputation");
  REQUIRE(window->workspace().in_front(window->findChild<MemoryView*>()));
  auto* timeline = static_cast<TimelineView*>(window->view_named("timeline"));
  const TimeRange seen = window->state().visible();
  const QPoint from = timeline->point_of(0, seen.begin_ns + seen.length() / 4);
  const QPoint to = timeline->point_of(0, seen.begin_ns + seen.length() / 2);
  QTest::mousePress(timeline, Qt::LeftButton, Qt::ShiftModifier, from);
  QMouseEvent move(QEvent::MouseMove, QPointF(to), timeline->mapToGlobal(to), Qt::NoButton, Qt::LeftButton,
                   Qt::ShiftModifier);
  QApplication::sendEvent(timeline, &move);
  QTest::mouseRelease(timeline, Qt::LeftButton, Qt::ShiftModifier, to);
  auto* range = window->findChild<RangeView*>();
  CHECK(window->workspace().in_front(range));
  REQUIRE(wait_until([&] { return range->settled() && range->picture().analysis.has_value(); }));
  CHECK(range->picture().analysis->range == window->state().selected_range());
}

TEST_CASE("Long details of an op do not change the window's size") {
  const auto window = window_on("pipeline-1f1b");
  REQUIRE(window->width() == 1280);
  const OpId op = parse_token("RECV.pipeline_backward:c1:m2").value();
  window->state().set_selected(SpanRef{1, window->state().step().value(), op, Obtained::simulated});
  REQUIRE(wait_until([&] { return window->settled(); }));
  QTest::qWait(50);
  CHECK(window->width() == 1280);
  CHECK(window->minimumSizeHint().width() <= 1280);
  auto* timeline = static_cast<TimelineView*>(window->view_named("timeline"));
  CHECK(timeline->scene().details.contains("waited for: send of activation gradients, micro-batch 2, rank 2"));
}

TEST_CASE("A view behind another tab computes nothing, and can be detached") {
  const auto window = window_on("recomputation");
  auto* memory = window->findChild<MemoryView*>();
  QWidget* range = window->view_named("range");
  REQUIRE(wait_until([&] { return range->isVisible() && !memory->isVisible(); }));
  window->view_named("memory");
  REQUIRE(wait_until([&] { return memory->isVisible() && !range->isVisible(); }));
  Workspace& workspace = window->workspace();
  workspace.set_detached(memory, true);
  CHECK(memory->window() != window.get());
  CHECK(memory->isVisible());
  window->view_named("range");
  REQUIRE(wait_until([&] { return memory->isVisible() && range->isVisible(); }));
  memory->window()->close();
  CHECK_FALSE(workspace.detached(memory));
  CHECK(memory->window() == window.get());
}

TEST_CASE("Saved from the window, a view's file is that view's") {
  // No lab: nothing is hidden behind a question.
  const QTemporaryDir folder;
  QFile plain(folder.filePath("plain.toml"));
  REQUIRE(plain.open(QIODevice::WriteOnly));
  plain.write(
      "[model]\nlayers = 4\nwidth = 32\nheads = 2\ncontext = 16\nvocabulary = 64\n[plan]\npipeline = 2\n"
      "micro_batches = 4\n[train]\nglobal_batch = 16\n");
  plain.close();
  const auto window = window_on(plain.fileName());
  for (const char* name : {"timeline", "memory", "range", "collectives", "hang"}) {
    window->view_named(name);
    REQUIRE(wait_until([&] { return window->settled(); }));
    const QString file = folder.filePath(QString(name) + ".csv");
    INFO(name);
    REQUIRE(window->save(name, file) == QString());
    QFile in(file);
    REQUIRE(in.open(QIODevice::ReadOnly));
    const QList<QByteArray> lines = in.readAll().split('\n');
    REQUIRE(lines.size() > 1);
    const auto commas = lines[0].count(',');
    CHECK(commas >= 2);
    if (QString(name) != "hang") CHECK(lines.size() > 3);  // a prediction never hangs
  }
  CHECK(window->save("lab", folder.filePath("lab.csv")).contains("has no table"));
  REQUIRE(window->save("timeline", folder.filePath("t.svg")).isEmpty());
  QFile drawing(folder.filePath("t.svg"));
  REQUIRE(drawing.open(QIODevice::ReadOnly));
  const QByteArray svg = drawing.readAll();
  CHECK(svg.contains(">Time line</text>"));
  CHECK(svg.count("<rect") > 20);  // boxes are shapes, not pixels alone
}

TEST_CASE("An invalid file is refused in the window's log, and the window continues") {
  const auto window = window_on("pipeline-1f1b");
  window->open("/nowhere/run.mcap");
  CHECK(window->log_text().contains("/nowhere/run.mcap"));
  CHECK(window->session().state() == SessionState::ready);
}

TEST_CASE("Both themes paint the whole window") {
  const auto window = window_on("pipeline-1f1b");
  const QImage dark = window->grab().toImage();
  window->set_theme(Theme::light);
  REQUIRE(wait_until([&] { return window->settled(); }));
  const QImage light = window->grab().toImage();
  REQUIRE(light.size() == dark.size());
  // On a grid of points: most are background, everywhere.
  int points = 0, themed = 0;
  for (int y = 5; y < light.height(); y += 10)
    for (int x = 5; x < light.width(); x += 10, ++points)
      themed += light.pixelColor(x, y).lightness() > dark.pixelColor(x, y).lightness() + 60;
  INFO(themed << " of " << points << " points");
  CHECK(themed > 0.8 * points);
}

TEST_CASE("The command palette puts whole words first, and opens labs") {
  CHECK(distance("lab", "Open lab: pipeline-1f1b") == 0);
  CHECK(distance("pen", "Open lab") == 1);
  CHECK(distance("olb", "Open lab") == 2);
  const auto window = window_on("pipeline-1f1b");
  CommandPalette palette(window->actions(), window.get());
  palette.show();
  auto* line = palette.findChild<QLineEdit*>();
  REQUIRE(line != nullptr);
  QTest::keyClicks(line, "lab: data-par");
  REQUIRE_FALSE(palette.shown().isEmpty());
  CHECK(palette.shown().front() == "Open lab: data-parallel");
}

// Pictures to look at: RANKSCOPE_PICTURES=FOLDER shell_test "[.pictures]"
TEST_CASE("Pictures of the sheets, of a chosen op and of a range", "[.pictures]") {
  const QString folder = qEnvironmentVariable("RANKSCOPE_PICTURES");
  REQUIRE_FALSE(folder.isEmpty());
  const auto window = window_on("pipeline-1f1b");
  for (const char* key : {"palette", "keys"}) {
    for (QAction* action : window->actions())
      if (action->text() == (QByteArray(key) == "palette" ? "Command palette" : "Keyboard shortcuts"))
        action->trigger();
    for (QDialog* dialog : window->findChildren<QDialog*>())
      if (dialog->isVisible()) {
        dialog->grab().save(folder + "/" + key + ".png");
        dialog->close();
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
      }
  }
  // An op of the time line with what it waited for, its card, and a range with its table.
  for (const Theme theme : {Theme::dark, Theme::light}) {
    window->set_theme(theme);
    const QString name = theme == Theme::dark ? "dark" : "light";
    const std::uint32_t step = window->state().step().value();
    const OpId op = parse_token("RECV.pipeline_backward:c1:m2").value();
    window->state().set_selected_range({});
    window->state().set_selected(SpanRef{1, step, op, Obtained::simulated});
    auto* timeline = static_cast<TimelineView*>(window->view_named("timeline"));
    const auto span = window->session().view()->find(1, step, op, Obtained::simulated);
    REQUIRE(span);
    QTest::mouseMove(timeline, timeline->point_of(1, span->end_ns + 1000));
    REQUIRE(wait_until([&] { return window->settled(); }));
    window->grab().save(folder + "/op-" + name + ".png");
    window->state().set_selected_range({span->begin_ns, span->end_ns});
    REQUIRE(wait_until([&] { return window->settled(); }));
    window->grab().save(folder + "/range-" + name + ".png");
  }
}
