// SPDX-License-Identifier: GPL-3.0-or-later
// Several windows as one class.
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include "app/lesson/answers_plot.hpp"
#include "app/lesson/class_table.hpp"
#include "app/lesson/class_window.hpp"
#include "app/lesson/drawn_guess.hpp"
#include "app/lesson/lab_panel.hpp"
#include "app/shell/main_window.hpp"
#include "app/views/common/text.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/app/shell/window.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

std::unique_ptr<MainWindow> window_in_class(const QString& source) {
  static const QTemporaryDir settings;  // where students' keys are kept
  qputenv("XDG_CONFIG_HOME", settings.path().toUtf8());
  return window_on(source);
}

QString lab_of(MainWindow& window) { return QFileInfo(window.session().spec().text).completeBaseName(); }

}  // namespace

TEST_CASE(
    "Students' windows follow the teacher's lab, step, range, selection and view until a student stops following") {
  const auto teacher = window_in_class("pipeline-1f1b");
  const auto student = window_in_class("data-parallel");
  const QTemporaryDir folder;
  const QString join = folder.filePath("class.join");
  REQUIRE(teacher->teach(join, {}).isEmpty());
  CHECK((QFileInfo(join).permissions() & (QFile::ReadGroup | QFile::ReadOther)) == 0);
  REQUIRE(student->attend(join, "Ada").isEmpty());
  REQUIRE(wait_until([&] { return lab_of(*student) == "pipeline-1f1b"; }));
  REQUIRE(wait_until([&] { return student->session().state() == SessionState::ready && student->settled(); }));

  const std::uint32_t step = 1;
  const TimeRange range = *teacher->session().view()->step_range(Obtained::simulated, step);
  teacher->state().hold();
  teacher->state().set_step(step);
  teacher->state().set_visible({range.begin_ns + range.length() / 4, range.begin_ns + range.length() / 2});
  const OpId op = parse_token("RECV.pipeline_backward:c1:m2").value();
  teacher->state().set_selected(SpanRef{1, step, op, Obtained::simulated});
  REQUIRE(wait_until([&] {
    return student->state().step() == step && student->state().visible() == teacher->state().visible() &&
           student->state().selected() == teacher->state().selected();
  }));
  teacher->view_named("training");
  CHECK(wait_until([&] { return student->view_named("training")->isVisible(); }));

  student->class_room().set_following(false);
  const TimeRange own = student->state().visible();
  teacher->state().set_visible(range);
  QTest::qWait(300);
  CHECK(student->state().visible() == own);
  student->class_room().set_following(true);
  CHECK(wait_until([&] { return student->state().visible() == teacher->state().visible(); }));
}

TEST_CASE("If a student's step takes longer, the same part of it is shown") {
  const QTemporaryDir folder;
  const QString slower = folder.filePath("pipeline-1f1b.toml");
  QFile file(slower);
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write(
      "title = \"the same, larger\"\n[model]\nlayers = 16\n[plan]\npipeline = 4\nmicro_batches = 8\n"
      "[train]\nglobal_batch = 32\n");
  file.close();
  const auto teacher = window_in_class("pipeline-1f1b"), student = window_on(slower);
  const QString join = folder.filePath("class.join");
  REQUIRE(teacher->teach(join, {}).isEmpty());
  const TimeRange shown = *teacher->session().view()->step_range(Obtained::simulated, 1);
  const TimeRange own = *student->session().view()->step_range(Obtained::simulated, 1);
  REQUIRE(own.length() > shown.length() * 5 / 4);
  teacher->state().hold();
  teacher->state().set_step(1);
  teacher->state().set_visible({shown.begin_ns + shown.length() / 2, shown.end_ns});
  REQUIRE(student->attend(join, "Ada").isEmpty());
  CHECK(wait_until([&] {
    const TimeRange visible = student->state().visible();
    return std::abs(visible.begin_ns - (own.begin_ns + own.length() / 2)) < 10 &&
           std::abs(visible.end_ns - own.end_ns) < 10;
  }));
}

TEST_CASE("Students' answers are a histogram in the teacher's window, hidden until requested") {
  const QTemporaryDir folder;
  const QString lesson = write_file(folder, "small.toml", small_lesson(bubble_question));
  const auto teacher = window_in_class(lesson);
  const auto ada = window_in_class(lesson), grace = window_on(lesson);
  const QString join = folder.filePath("class.join");
  REQUIRE(teacher->teach(join, {}).isEmpty());
  REQUIRE(ada->attend(join, "Ada").isEmpty());
  REQUIRE(grace->attend(join, "Grace").isEmpty());
  ada->lab_panel().keep(0, 27.0);
  grace->lab_panel().keep(0, 83.0);
  REQUIRE(wait_until([&] { return last_answers(teacher->class_room().students(), "small", 0).size() == 2; }));
  CHECK(wait_until([&] { return teacher->class_room().words().contains("2 students"); }));
  CHECK(teacher->lab_panel().findChildren<AnswersPlot*>().isEmpty());
  QPushButton* show = nullptr;
  REQUIRE(wait_until([&] {
    for (QPushButton* button : teacher->lab_panel().findChildren<QPushButton*>())
      if (button->text().startsWith("Show 2 answers")) show = button;
    return show != nullptr;
  }));
  const auto fits = [&] {
    return teacher->lab_panel().widget()->minimumSizeHint().width() <= teacher->lab_panel().viewport()->width();
  };
  CHECK(fits());  // wider parts would be cut: the panel does not scroll sideways
  QTest::mouseClick(show, Qt::LeftButton);
  CHECK(fits());
  const auto histograms = teacher->lab_panel().findChildren<AnswersPlot*>();
  REQUIRE(histograms.size() == 1);
  CHECK_FALSE(histograms[0]->distribution().truth);  // the teacher has not answered: all would see the answer
  CHECK(histograms[0]->distribution().bins.counts == std::vector<int>{0, 0, 1, 0, 0, 0, 0, 0, 1, 0});
  // The students' windows show none of it.
  CHECK(ada->lab_panel().findChildren<AnswersPlot*>().isEmpty());
}

TEST_CASE("The teacher's window shows who has answered what at which try, and students' windows do not") {
  const QTemporaryDir folder;
  const QString lesson = write_file(folder, "small.toml", small_lesson(formula_question + memory_question));
  const auto teacher = window_in_class(lesson);
  const auto grace = window_in_class(lesson), ada = window_on(lesson), bob = window_on(lesson);
  const QString join = folder.filePath("class.join"), file = folder.filePath("answers.csv");
  REQUIRE(teacher->teach(join, {}).isEmpty());
  teacher->keep_answers(file);
  REQUIRE(grace->attend(join, "Grace").isEmpty());
  REQUIRE(ada->attend(join, "=Ada").isEmpty());
  REQUIRE(bob->attend(join, "Bob").isEmpty());
  grace->lab_panel().keep(0, 25.0);
  grace->lab_panel().keep(0, 20.0);
  ada->lab_panel().keep(0, 20.5);
  ada->lab_panel().keep(1, std::vector<double>{1, 2});
  bob->lab_panel().keep(1, std::vector<double>{3, 4});
  ClassWindow& shown = teacher->show_class();
  CHECK(shown.size().height() <= 768 - 40);
  const auto row = [&](int at) {
    QStringList words;
    for (int column = 0; column < 3; ++column) words << shown.table().words(at, column);
    return words;
  };
  const auto tick = [](const char* words) { return QString::fromUtf8(words); };
  // Each student's answers are sent one after the other; Grace's second try may be the last one of all.
  REQUIRE(wait_until([&] {
    return shown.table().rowCount() == 5 && shown.table().words(0, 2) == "2 of 3" &&
           shown.table().words(4, 1) == tick("✓ 2nd try");
  }));
  CHECK(row(0) == QStringList{"answered", "2 of 3", "2 of 3"});
  CHECK(row(1) == QStringList{"right", "2 of 2", text::unknown()});
  CHECK(row(2) == QStringList{"=Ada", tick("✓ 1st try"), tick("? waits for a run")});
  CHECK(row(3) == QStringList{"Bob", tick("· not yet"), tick("? waits for a run")});
  CHECK(row(4) == QStringList{"Grace", tick("✓ 2nd try"), tick("· not yet")});
  const auto& rows = shown.table();
  CHECK(rows.data(rows.index(4, 1), Qt::ToolTipRole).toString().contains("Try 1: 25"));
  // The numbers of the first question, and the drawings of the second as a distribution.
  CHECK(shown.plot().distribution().truth == 20.0);
  CHECK(shown.plot().distribution().mistakes == std::vector<double>{25});
  shown.set_marked(false);
  CHECK_FALSE(shown.plot().distribution().truth);
  shown.set_marked(true);
  shown.show_question(1);
  REQUIRE(shown.plot().distribution().spread.size() == 2);
  CHECK(shown.plot().distribution().spread[0].median == 2);
  CHECK(shown.plot().distribution().spread[1].high == 3.5);
  CHECK(shown.plot().distribution().true_series.empty());  // nothing ran
  // Students' windows: no table, no answers of others.
  for (const auto* student : {grace.get(), ada.get(), bob.get()}) {
    CHECK(student->findChildren<ClassWindow*>().isEmpty());
    CHECK(student->findChildren<AnswersPlot*>().isEmpty());
  }
  CHECK(ada->class_room().students().empty());
  // Answering a lesson again adds a try, and the file has all of them after the class ends.
  teacher->class_room().leave();
  QFile csv(file);
  REQUIRE(csv.open(QIODevice::ReadOnly));
  const QString text = QString::fromUtf8(csv.readAll());
  const QStringList lines = text.split("\r\n", Qt::SkipEmptyParts);
  REQUIRE(lines.size() == 6);
  CHECK(lines[0] == "name,lesson,question,words of the question,kind,answer,unit,verdict,try,time");
  CHECK(lines[1].startsWith("'=Ada,small,1,\"What share is bubble, by the formula?\",number,20.5,%,right,1,20"));
  CHECK(lines[2].startsWith("'=Ada,small,2,Draw the peak of each rank.,draw,1 2,MiB,not judged yet,1,20"));
  CHECK(lines[4].startsWith("Grace,small,1,\"What share is bubble, by the formula?\",number,25,%,wrong,1,20"));
  CHECK(lines[5].contains(",20,%,right,2,20"));
  for (const QString& line : lines) CHECK_FALSE(QString("=+-@").contains(line.front()));
}

TEST_CASE("The result of a student's run reaches the teacher after the answer") {
  const QTemporaryDir folder;
  const QString lesson = write_file(folder, "small.toml", small_lesson(bubble_question));
  const auto teacher = window_in_class(lesson);
  auto student = window_on_lab(lesson, real_engine());
  const QString join = folder.filePath("class.join");
  REQUIRE(teacher->teach(join, {}).isEmpty());
  REQUIRE(student->attend(join, "Ada").isEmpty());
  student->lab_panel().keep(0, 99.0);
  const auto verdict = [&] {
    for (const classroom::Student& one : teacher->class_room().students())
      for (const auto& [question, tries] : one.answers) return std::optional(tries.back().verdict);
    return std::optional<classroom::Verdict>();
  };
  REQUIRE(wait_until([&] { return verdict() == classroom::Verdict::open; }));
  student->session().run();
  CHECK(wait_until([&] { return verdict() == classroom::Verdict::wrong; }));
  CHECK(teacher->class_room().students().front().answers.at({"small", 0}).size() == 1);
}

TEST_CASE("A class over the network is joined with keys at the address that its teacher names") {
  const auto teacher = window_in_class("pipeline-1f1b");
  const QTemporaryDir folder;
  const QString join = folder.filePath("class.join");
  REQUIRE(teacher->teach(join, "127.0.0.1").isEmpty());
  QFile file(join);
  REQUIRE(file.open(QIODevice::ReadOnly));
  CHECK(file.readAll().contains("tcp/127.0.0.1:"));
  const auto student = window_in_class("pipeline-1f1b");
  REQUIRE(student->attend(join, "Ada").isEmpty());
  CHECK(wait_until([&] { return teacher->class_room().student_count() == 1; }));
}

TEST_CASE("A class with an invalid join file is refused with a message, and leaving a class ends it") {
  const auto window = window_in_class("pipeline-1f1b");
  CHECK(window->attend("/nowhere/class.join", "Ada").contains("/nowhere/class.join"));
  CHECK_FALSE(window->class_room().attending());
  const QTemporaryDir folder;
  REQUIRE(window->teach(folder.filePath("class.join"), {}).isEmpty());
  CHECK(window->class_room().teaching());
  window->class_room().leave();
  CHECK_FALSE(window->class_room().teaching());
  CHECK(window->class_room().words().isEmpty());
}

TEST_CASE("A share is guessed by dragging the edge of the bar, or with the keys, and then submitted") {
  application();
  ShareGuess guess(palette_of(Theme::light));
  guess.resize(204, guess.sizeHint().height());
  guess.show();
  QTest::mouseClick(&guess, Qt::LeftButton, {}, QPoint(static_cast<int>(guess.x_of(30)), 10));
  CHECK(guess.value() == Approx(30).margin(1));
  QTest::mousePress(&guess, Qt::LeftButton, {}, QPoint(static_cast<int>(guess.x_of(30)), 10));
  QTest::mouseMove(&guess, QPoint(static_cast<int>(guess.x_of(55)), 10));
  QTest::mouseRelease(&guess, Qt::LeftButton, {}, QPoint(static_cast<int>(guess.x_of(55)), 10));
  const double dragged = guess.value();
  QTest::keyClick(&guess, Qt::Key_Left);
  CHECK(guess.value() == dragged + 1);
  QTest::keyClick(&guess, Qt::Key_Right, Qt::ShiftModifier);
  CHECK(guess.value() == dragged - 9);
  guess.set_kept(true);
  QTest::mouseClick(&guess, Qt::LeftButton, {}, QPoint(static_cast<int>(guess.x_of(90)), 10));
  CHECK(guess.value() == dragged - 9);
}
