// SPDX-License-Identifier: GPL-3.0-or-later
// Several windows as one class.
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include "app/lesson/lab_panel.hpp"
#include "app/lesson/share_guess.hpp"
#include "app/shell/main_window.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/app/shell/window.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

std::unique_ptr<MainWindow> window_on(const QString& source) {
  static const QTemporaryDir settings;  // where students' keys are kept
  qputenv("XDG_CONFIG_HOME", settings.path().toUtf8());
  application();
  auto window = std::make_unique<MainWindow>(SessionOptions{}, Theme::dark, false);
  window->resize(1280, 800);
  window->show();
  window->open(source);
  REQUIRE(wait_until([&] { return window->session().state() == SessionState::ready && window->settled(); }));
  return window;
}

QString lab_of(MainWindow& window) { return QFileInfo(window.session().spec().text).completeBaseName(); }

}  // namespace

TEST_CASE("Students' windows follow the teacher's lab, step, range, selection and view, and one may look away") {
  const auto teacher = window_on("pipeline-1f1b");
  const auto student = window_on("data-parallel");
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

TEST_CASE("Where a student's step takes longer, the same part of it is to be seen") {
  const QTemporaryDir folder;
  const QString slower = folder.filePath("pipeline-1f1b.toml");
  QFile file(slower);
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write(
      "title = \"the same, larger\"\n[model]\nlayers = 16\n[plan]\npipeline = 4\nmicro_batches = 8\n"
      "[train]\nglobal_batch = 32\n");
  file.close();
  const auto teacher = window_on("pipeline-1f1b"), student = window_on(slower);
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
  const auto teacher = window_on(lesson);
  const auto ada = window_on(lesson), grace = window_on(lesson);
  const QString join = folder.filePath("class.join");
  REQUIRE(teacher->teach(join, {}).isEmpty());
  REQUIRE(ada->attend(join, "Ada").isEmpty());
  REQUIRE(grace->attend(join, "Grace").isEmpty());
  ada->lab_panel().keep(0, 27.0);
  grace->lab_panel().keep(0, 83.0);
  REQUIRE(wait_until([&] { return teacher->class_room().guesses("small", 0).size() == 2; }));
  CHECK(wait_until([&] { return teacher->class_room().words().contains("2 students"); }));
  CHECK(teacher->lab_panel().findChildren<GuessHistogram*>().isEmpty());
  QPushButton* show = nullptr;
  REQUIRE(wait_until([&] {
    for (QPushButton* button : teacher->lab_panel().findChildren<QPushButton*>())
      if (button->text().startsWith("Show 2 answers")) show = button;
    return show != nullptr;
  }));
  const auto fits = [&] {
    return teacher->lab_panel().widget()->minimumSizeHint().width() <= teacher->lab_panel().viewport()->width();
  };
  CHECK(fits());  // what is wider would be cut: the panel does not scroll sideways
  QTest::mouseClick(show, Qt::LeftButton);
  CHECK(fits());
  const auto histograms = teacher->lab_panel().findChildren<GuessHistogram*>();
  REQUIRE(histograms.size() == 1);
  CHECK(histograms[0]->bins().counts == std::vector<int>{0, 0, 1, 0, 0, 0, 0, 0, 1, 0});
  // The students' windows show nothing of it.
  CHECK(ada->lab_panel().findChildren<GuessHistogram*>().isEmpty());
}

TEST_CASE("A class over the network is joined with keys at the address that its teacher names") {
  const auto teacher = window_on("pipeline-1f1b");
  const QTemporaryDir folder;
  const QString join = folder.filePath("class.join");
  REQUIRE(teacher->teach(join, "127.0.0.1").isEmpty());
  QFile file(join);
  REQUIRE(file.open(QIODevice::ReadOnly));
  CHECK(file.readAll().contains("tcp/127.0.0.1:"));
  const auto student = window_on("pipeline-1f1b");
  REQUIRE(student->attend(join, "Ada").isEmpty());
  CHECK(wait_until([&] { return teacher->class_room().student_count() == 1; }));
}

TEST_CASE("A class with an invalid join file is refused with a message, and leaving a class ends it") {
  const auto window = window_on("pipeline-1f1b");
  CHECK(window->attend("/nowhere/class.join", "Ada").contains("/nowhere/class.join"));
  CHECK_FALSE(window->class_room().attending());
  const QTemporaryDir folder;
  REQUIRE(window->teach(folder.filePath("class.join"), {}).isEmpty());
  CHECK(window->class_room().teaching());
  window->class_room().leave();
  CHECK_FALSE(window->class_room().teaching());
  CHECK(window->class_room().words().isEmpty());
}

TEST_CASE("A share is guessed by dragging the edge of the bar, or with the keys, until it is kept") {
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

TEST_CASE("Guesses that are no shares are spread over their own range") {
  const auto bins = GuessHistogram::bins_of({4, 4, 16, 10}, "MiB");
  CHECK(bins.low == 4);
  CHECK(bins.high == 16);
  int sum = 0;
  for (const int count : bins.counts) sum += count;
  CHECK(sum == 4);
  CHECK(bins.counts.front() == 2);
  CHECK(bins.counts.back() == 1);
  CHECK(GuessHistogram::bins_of({}, "MiB").counts.empty());
  CHECK(GuessHistogram::bins_of({7}, "MiB").counts.front() == 1);
}
