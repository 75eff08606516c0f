// SPDX-License-Identifier: GPL-3.0-or-later
// The window's texts about itself: a run's end, a lesson's questions, a class, the list of labs, the last content.
#include <QComboBox>
#include <QCoreApplication>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QSettings>
#include <set>

#include "app/lesson/drawn_guess.hpp"
#include "app/lesson/lab_panel.hpp"
#include "app/lesson/welcome_page.hpp"
#include "app/shell/banner.hpp"
#include "app/shell/command_line.hpp"
#include "app/shell/gap_words.hpp"
#include "app/shell/plan_panel.hpp"
#include "app/shell/status_line.hpp"
#include "app/shell/top_bar.hpp"
#include "app/shell/workspace.hpp"
#include "app/views/memory/memory_view.hpp"
#include "engine/lesson/lab/course.hpp"
#include "engine/worker/exit_status.hpp"
#include "telemetry/classroom/teacher.hpp"
#include "tests/app/painted_text.hpp"
#include "tests/app/session/recording.hpp"
#include "tests/app/shell/window.hpp"
#include "tests/places.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

QString u(const char* text) { return QString::fromUtf8(text); }

bool has_steps(MainWindow& window, std::size_t steps) {
  return wait_until([&] { return window.session().view()->steps(window.state().shown()).size() > steps; });
}

/// Of the welcome page; null if there is nothing to continue.
QAbstractButton* continue_button(MainWindow& window) {
  for (auto* button : window.welcome_page().findChildren<QAbstractButton*>())
    if (button->text().startsWith("Continue: ") && button->isVisible()) return button;
  return nullptr;
}

/// Share of the bar's middle line that has this colour.
double share_of_colour(QWidget& widget, const QColor& expected) {
  const QImage image = widget.grab().toImage();
  const int y = 14;
  int found = 0, all = 0;
  for (int x = 4; x < image.width() - 4; ++x, ++all) {
    const QColor at = image.pixelColor(x, y);
    const int far = std::abs(at.red() - expected.red()) + std::abs(at.green() - expected.green()) +
                    std::abs(at.blue() - expected.blue());
    found += far < 12;
  }
  return static_cast<double>(found) / all;
}

/// All texts of the window, with each of its views in front in turn.
QString said(MainWindow& window) {
  QString words;
  for (const QString& name : view_names()) {
    window.view_named(name);
    wait_until([&] { return window.settled(); });
    for (const PaintedText& text : painted_texts(window)) words += text.words.trimmed() + QLatin1Char(' ');
  }
  return words;
}

/// A plan for 1,024 devices, of which rank 517 takes twice as long.
QString large_plan(const QTemporaryDir& folder) {
  return write_file(folder, "large.toml",
                    "title = \"large\"\n[model]\nlayers = 96\nwidth = 12288\nheads = 96\ncontext = 2048\n"
                    "vocabulary = 51200\n[plan]\ndata = 16\ntensor = 8\npipeline = 8\nmicro_batches = 12\n"
                    "precision = \"bf16\"\n[train]\nglobal_batch = 192\n[cluster]\nspec = \"frontier\"\n"
                    "[fault]\nslow_rank = 517\nslow_factor = 2\n");
}

}  // namespace

TEST_CASE("A run stopped by the user is shown as stopped after its last step, not as failed") {
  const QTemporaryDir folder;
  const auto window = empty_window(real_engine());
  window->open(write_file(folder, "plain.toml", small_plan(100000)));
  REQUIRE(is_ready(*window));
  window->session().run();
  REQUIRE(has_steps(*window, 3));
  window->session().stop();
  REQUIRE(wait_until([&] { return window->session().state() == SessionState::ended; }));
  CHECK(window->session().failure().isEmpty());
  CHECK(window->status_line().left_text().startsWith("stopped after step "));
  CHECK_FALSE(window->banner().is_error("run"));
  CHECK(window->session().can_run());
}

TEST_CASE("A viewer that leaves a run is detached: the run continues, and it can be attached again") {
  const QTemporaryDir folder;
  const QString scenario = write_file(folder, "plain.toml", small_plan(1000000));
  QProcess engine;
  const QString endpoint = "ipc://" + folder.filePath("run");
  engine.start(QString::fromStdString(test::program("rankscope-engine")), {"run", scenario, "--publish", endpoint});
  REQUIRE(engine.waitForStarted());
  const auto window = empty_window();
  window->open(endpoint);
  REQUIRE(has_steps(*window, 2));
  CHECK(window->top_bar().source_text().startsWith("LIVE"));
  window->session().stop();
  REQUIRE(wait_until([&] { return window->session().state() == SessionState::ended; }));
  CHECK(window->top_bar().source_text().startsWith("DETACHED"));
  CHECK(window->status_line().left_text().startsWith("detached"));
  CHECK(engine.state() == QProcess::Running);
  QAbstractButton* again = button_named(window->banner(), "Attach again");
  REQUIRE(again != nullptr);
  QTest::mouseClick(again, Qt::LeftButton);
  CHECK(wait_until([&] { return window->top_bar().source_text().startsWith("LIVE"); }));
  engine.terminate();
  CHECK(engine.waitForFinished(300'000));
  // This time it did not end by itself: a user stopped it.
  REQUIRE(wait_until([&] { return window->session().state() == SessionState::ended; }));
  CHECK(window->top_bar().source_text().startsWith("ENDED"));
  CHECK(window->session().failure().isEmpty());
}

TEST_CASE("Enter submits an answer, and the keyboard goes to the next question and then to Run") {
  const QTemporaryDir folder;
  const auto window =
      window_on_lab(write_file(folder, "l.toml", small_lesson(bubble_question + formula_question)), real_engine());
  LabPanel& lab = window->lab_panel();
  REQUIRE(lab.answers().size() == 2);
  REQUIRE(words_in(lab).contains("Question 1 of 2"));
  lab.show_question();
  const auto type = [&](const char* words, std::size_t question, std::size_t tries) {
    QLineEdit* line = nullptr;
    REQUIRE(wait_until([&] { return (line = qobject_cast<QLineEdit*>(QApplication::focusWidget())) != nullptr; }));
    QTest::keyClicks(line, words);
    QTest::keyClick(line, Qt::Key_Return);
    REQUIRE(wait_until([&] { return lab.answers()[question].tries.size() == tries; }));
  };
  type("75", 0, 1);
  CHECK(words_in(lab).contains(u("Your answer: 75\u00A0%. Press Run to check.")));
  type("25", 1, 1);
  CHECK(words_in(lab).contains("Too high. One more try."));
  CHECK(words_in(lab).contains("a share of the useful time"));
  type("100/5", 1, 2);
  REQUIRE(wait_until([&] { return window->top_bar().run_has_focus(); }));
  CHECK(lab.answers()[1].right());
  CHECK(words_in(lab).contains("Right (exact)"));
  CHECK(words_in(lab).contains("One of five."));
}

TEST_CASE("A drawing takes its own keys, and Enter submits it") {
  const QTemporaryDir folder;
  const auto window =
      window_on_lab(write_file(folder, "l.toml", small_lesson(bubble_question + memory_question)), real_engine());
  LabPanel& lab = window->lab_panel();
  lab.keep(0, 27.0);
  const auto selected = window->state().selected();
  lab.show_question();
  auto* sketch = lab.findChild<Sketch*>();
  REQUIRE(wait_until([&] { return sketch->hasFocus(); }));
  QTest::keyClick(sketch, Qt::Key_Return);  // nothing is drawn yet
  for (int i = 0; i < 5; ++i) QTest::keyClick(sketch, Qt::Key_Up);
  CHECK(sketch->values()[0] > 0);
  CHECK(window->state().selected() == selected);
  CHECK(lab.answers()[1].tries.empty());
  QTest::keyClick(sketch, Qt::Key_Return);
  REQUIRE(wait_until([&] { return !lab.answers()[1].tries.empty(); }));
  CHECK(words_in(lab).contains("Drawing saved. Press Run to check."));
  CHECK(wait_until([&] { return window->top_bar().run_has_focus(); }));
}

TEST_CASE("A share is drawn as what is asked for: compute is coloured, and a bubble is the hatched rest") {
  application();
  const Palette& palette = palette_of(Theme::light);
  for (const auto& [path, part] : std::vector<std::pair<QString, std::optional<TimeClass>>>{
           {"time.compute", TimeClass::compute}, {"bubble.measured", TimeClass::bubble}, {"mfu", std::nullopt}})
    CHECK(part_of_step(path) == part);
  for (const auto part : {TimeClass::compute, TimeClass::bubble}) {
    ShareGuess guess(palette, part);
    guess.resize(404, guess.sizeHint().height());
    guess.set_value(95);
    // Compute is blue: nearly all of the bar if the question is about 95 % compute, and little if 95 % is idle.
    const QColor ground = color(palette.ground), full = color(palette.of(SpanClass::forward));
    const auto mix = [](int a, int b) { return a + (b - a) * 3 / 4; };
    const QColor drawn(mix(ground.red(), full.red()), mix(ground.green(), full.green()),
                       mix(ground.blue(), full.blue()));
    const double blue = share_of_colour(guess, drawn);
    CHECK(blue == Approx(part == TimeClass::compute ? 0.95 : 0.05).margin(0.03));
    // A click sets the share at its position, for both parts.
    QTest::mouseClick(&guess, Qt::LeftButton, {}, QPoint(static_cast<int>(guess.x_of(20)), 10));
    CHECK(guess.value() == Approx(20).margin(1));
  }
}

TEST_CASE("Content hidden by questions can be shown without an answer") {
  const QTemporaryDir folder;
  const auto window = window_on_lab(write_file(folder, "l.toml", small_lesson(bubble_question + memory_question)));
  auto* memory = window->findChild<MemoryView*>();
  window->view_named("memory");
  REQUIRE(memory->veiled());
  CHECK(window->plan_panel().cell_text(PlanRow::bubble, 1) == "?");
  CHECK_FALSE(words_in(window->plan_panel()).contains("step "));
  QAbstractButton* show = button_named(*memory, "Show anyway");
  REQUIRE(show != nullptr);
  QTest::mouseClick(show, Qt::LeftButton);
  CHECK_FALSE(memory->veiled());
  CHECK(button_named(*memory, "Show anyway") == nullptr);
  CHECK(window->plan_panel().cell_text(PlanRow::bubble, 1).contains("%"));
  CHECK(words_in(window->lab_panel()).contains("Question 1 of 2"));  // they can still be answered
  CHECK(button_named(window->lab_panel(), "Submit") != nullptr);
  // Another lesson hides its own.
  window->open(write_file(folder, "other.toml", small_lesson(memory_question)));
  REQUIRE(is_ready(*window));
  CHECK(memory->veiled());
}

TEST_CASE("Answers that a run has opened stay open while another plan is looked at") {
  const QTemporaryDir folder;
  const auto window = empty_window(real_engine());
  window->open(write_file(folder, "lesson.toml", small_lesson(bubble_question)));
  REQUIRE(is_ready(*window));
  REQUIRE(window->lab_panel().answers().size() == 1);
  window->lab_panel().keep(0, 99.0);
  window->session().run();
  REQUIRE(wait_until([&] { return window->session().state() == SessionState::ended && window->settled(); }));
  // A wrong answer has another try, which is judged immediately: the run is over.
  CHECK(words_in(window->lab_panel()).contains("Too high. One more try."));
  window->lab_panel().keep(0, 99.0);
  REQUIRE(window->lab_panel().answers()[0].open());
  const QString words = words_in(window->lab_panel());
  CHECK(words.contains(u("You: 99\u00A0%. Run: ")));
  Scenario other = *window->session().scenario();
  other.plan.micro_batches = 8;
  window->session().edit(other);
  REQUIRE(wait_until([&] { return window->session().label() == SourceLabel::simulated && window->settled(); }));
  window->session().revert();
  REQUIRE(wait_until([&] { return !window->session().edited() && window->settled(); }));
  CHECK(window->lab_panel().answers()[0].open());
  CHECK(words_in(window->lab_panel()) == words);
}

TEST_CASE("The list of labs is numbered and grouped, and what was opened goes by names of its own") {
  const QTemporaryDir folder;
  const auto window = empty_window();
  const QStringList before = window->top_bar().listed();
  int number = 0, headings = 0;
  for (const QString& line : before) {
    const bool lab = line.startsWith(QString::number(number + 1) + "  ");
    number += lab;
    headings += !lab;
  }
  CHECK(number == static_cast<int>(all_labs().size()));
  CHECK(headings >= 4);
  CHECK(before.front() == QString::fromStdString(read_library().groups.front().title));
  for (const char* name : {"one.mcap", "two.mcap"}) {
    window->open(record(folder.filePath(name), small_scenario(), 3));
    REQUIRE(wait_until([&] { return window->windowTitle().startsWith(name); }));
  }
  const QStringList after = window->top_bar().listed();
  CHECK(after.contains("Recording one.mcap"));
  CHECK(after.contains("Recording two.mcap"));
  CHECK(std::set<QString>(after.begin(), after.end()).size() == static_cast<std::size_t>(after.size()));
}

TEST_CASE("A new window reopens what was open, with the edited plan, and lists new runs among the recent ones") {
  application();
  const QTemporaryDir folder;
  QCoreApplication::setOrganizationName("rankscope-test");
  QCoreApplication::setApplicationName("states");
  QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, folder.path());
  qputenv("XDG_DATA_HOME", folder.path().toUtf8());
  SessionOptions options = real_engine();
  options.recordings_folder = folder.filePath("recordings");
  const QString plain = write_file(folder, "plain.toml", small_plan(3));
  {
    const auto window = empty_window(options, true);
    window->show_welcome();
    CHECK(window->welcomes());
    CHECK(button_named(window->welcome_page(), "Begin with the first lesson") != nullptr);
    CHECK(continue_button(*window) == nullptr);  // nothing was open before
    CHECK_FALSE(window->workspace().isVisible());
    window->open(plain);
    REQUIRE(is_ready(*window));
    window->session().run();
    REQUIRE(wait_until([&] { return window->session().state() == SessionState::ended && window->settled(); }));
    const QStringList recent = QSettings().value("recent").toStringList();
    REQUIRE(recent.size() >= 2);
    CHECK(recent.front() == window->session().recording());
    Scenario other = *window->session().scenario();
    other.plan.micro_batches = 8;
    window->session().edit(other);
    REQUIRE(is_ready(*window));
    window->close();
  }
  {
    const auto window = empty_window(options, true);
    window->show_welcome();
    REQUIRE(continue_button(*window) != nullptr);
    continue_button(*window)->click();
    REQUIRE(wait_until([&] { return window->session().predicted() && window->settled(); }));
    CHECK_FALSE(window->welcomes());
    CHECK(window->workspace().isVisible());
    CHECK(window->session().spec().text == plain);
    CHECK(window->session().scenario()->plan.micro_batches == 8);
    CHECK(window->session().edited());
    window->close();
  }
  QFile::remove(plain);
  const auto window = empty_window(options, true);
  window->show_welcome();
  CHECK(continue_button(*window) == nullptr);  // its file was removed
  CHECK(window->session().state() == SessionState::empty);
  CHECK(window->banner().text("opening").isEmpty());
}

TEST_CASE("A student's window says to press Run once the teacher has run the lab") {
  const QTemporaryDir folder;
  classroom::TeacherOptions options;
  options.secured = false;
  options.endpoint = ("ipc://" + folder.filePath("class")).toStdString();
  classroom::Teacher teacher(options);
  write_join_file(folder.filePath("class.join").toStdString(), teacher.join({}));
  classroom::SharedView shared;
  shared.lab = "pipeline-1f1b";
  teacher.show(shared);
  const auto window = window_on_lab("pipeline-1f1b");
  REQUIRE(window->attend(folder.filePath("class.join"), "Ada").isEmpty());
  REQUIRE(wait_until([&] { return window->class_room().words().contains("following the teacher"); }));
  CHECK(window->banner().text("class").isEmpty());
  shared.ran = true;
  teacher.show(shared);
  REQUIRE(wait_until([&] { return window->banner().text("class").contains("press Run"); }));
  CHECK(button_named(window->banner(), "Run") != nullptr);
  shared.lab = "data-parallel";  // the window follows; a run that is due there is due again
  shared.ran = false;
  teacher.show(shared);
  CHECK(wait_until([&] { return window->banner().text("class").isEmpty(); }));
}

TEST_CASE("A plan that cannot run says so and why, and a plan too large to run says that") {
  const QTemporaryDir folder;
  const auto window = window_on_lab("pipeline-1f1b");
  window->workspace().set_shares_open(true);
  Scenario wrong = *window->session().scenario();
  wrong.plan.micro_batches = 5;  // does not divide 32 samples
  window->session().edit(wrong);
  REQUIRE(wait_until([&] { return !window->session().refusal().isEmpty() && window->settled(); }));
  CHECK(wait_until([&] { return window->status_line().left_text().startsWith("cannot run here"); }));
  QString words = said(*window);
  CHECK_FALSE(words.contains("Press Run"));
  CHECK(words.contains("This plan cannot run. A run's loss"));

  window->open(large_plan(folder));
  REQUIRE(is_ready(*window));
  REQUIRE(window->session().predicted());
  INFO(window->session().refusal().toStdString());
  CHECK(words_in(window->lab_panel()).contains("Too large to run here; a simulation is shown."));
  CHECK(window->status_line().left_text().contains("1,024 ranks (8 shown)"));
  words = said(*window);
  CHECK_FALSE(words.contains("Press Run"));
  CHECK(words.contains("Too large to run here. A run's loss"));
  // A slow rank that is not among the shown ones is named at the step's shares.
  CHECK(words.contains("Rank 517 takes 2.00 times as long as the others for equal work."));
}

TEST_CASE("A recorded prediction says that nothing ran, and how many ranks it is of") {
  const QTemporaryDir folder;
  const QString file = folder.filePath("predicted.mcap");
  REQUIRE(QProcess::execute(QString::fromStdString(test::program("rankscope-engine")),
                            {"simulate", large_plan(folder), "--record", file}) == status::does_not_fit);
  const auto window = empty_window();
  window->workspace().set_shares_open(true);
  window->open(file);
  REQUIRE(wait_until([&] { return window->session().state() == SessionState::ended && window->settled(); }));
  CHECK(words_in(window->lab_panel()).contains("A prediction of 2 steps over 1,024 ranks. Nothing ran."));
  const QString words = said(*window);
  INFO(words.toStdString());
  CHECK_FALSE(words.contains("Press Run"));
  CHECK_FALSE(words.contains("Ran on"));
  CHECK(words.contains("Nothing ran. A run's loss"));
}

TEST_CASE("A step many times as long as predicted is shown as a multiple, with contention if that was recorded") {
  Figures figures;
  figures.run.emplace();
  figures.run->obtained = Obtained::measured;
  figures.step.emplace();
  figures.step->range = {0, 250'000'000};
  figures.forecast.emplace();
  figures.forecast->range = {0, 10'000'000};
  CHECK(gap_sentence(figures).contains(u("25 × as long as predicted (machine busy?)")));
  figures.device = "cpu";
  Span span;
  span.op = parse_token("F:c0:m0").value();
  span.end_ns = 100'000'000;
  span.cpu_ns = 8'000'000;
  figures.step_spans = {span};
  CHECK(gap_sentence(figures).contains(u("(machine busy: compute had a processor for 8.0\u00A0% of its time)")));
  figures.step_spans[0].cpu_ns = 99'000'000;  // it was not the machine
  CHECK(gap_sentence(figures).contains(u("25 × as long as predicted")));
  CHECK_FALSE(gap_sentence(figures).contains("busy"));
  // A device that issues kernels, or sleeps, uses no processor: that is not informative.
  figures.device = "sleep";
  figures.step_spans[0].cpu_ns = 0;
  CHECK_FALSE(gap_sentence(figures).contains("had a processor"));
}
