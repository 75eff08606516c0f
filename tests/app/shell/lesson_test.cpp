// SPDX-License-Identifier: GPL-3.0-or-later
// A lesson in the window: from the welcome page to a right answer, and all actions of its text by clicks.
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QTemporaryDir>
#include <QTest>

#include "app/lesson/lab_panel.hpp"
#include "app/lesson/lesson_text.hpp"
#include "app/lesson/welcome_page.hpp"
#include "app/shell/banner.hpp"
#include "app/shell/workspace.hpp"
#include "app/views/compare/compare_view.hpp"
#include "app/views/experiments/experiments_view.hpp"
#include "tests/app/shell/window.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

LessonText& text_with(LabPanel& lab, const char* words) {
  for (auto* text : lab.findChildren<LessonText*>())
    if (text->toPlainText().contains(QString::fromUtf8(words))) return *text;
  FAIL("no part of the lesson has '" << words << "'");
  throw std::logic_error("unreachable");
}

/// Clicks the lesson's command with this text.
void click_command(LabPanel& lab, const char* words) {
  LessonText& text = text_with(lab, words);
  for (std::size_t i = 0; i < text.experiments().size(); ++i)
    if (QString::fromStdString(text.experiments()[i].line).contains(QString::fromUtf8(words)))
      return emit text.anchorClicked(QUrl(QStringLiteral("run:%1").arg(i)));
  FAIL("'" << words << "' is no command");
}

const QByteArray trials =
    "[lab]\nsummary = \"Trials\"\ntext = \"\"\"\n## Read\nTry `--set micro_batches=8`, `--set micro_batches=3` and "
    "`--set micro_batchs=2`.\n\n    rankscope-engine simulate scenarios/labs/l.toml\n\n"
    "    rankscope-engine verify l --set train.steps=1\n\n"
    "    rankscope-engine run l --set micro_batches=2\n\n"
    "See [a backward](view:memory?rank=1&op=B:c1:m2).\n\"\"\"\n";

}  // namespace

TEST_CASE("From the welcome page a newcomer's first right answer takes fewer than ten clicks") {
  const auto window = empty_window();
  window->show_welcome();
  int clicks = 0;
  const auto click = [&clicks](QAbstractButton* button) {
    REQUIRE(button != nullptr);
    REQUIRE(button->isEnabled());
    QTest::mouseClick(button, Qt::LeftButton);
    ++clicks;
  };
  click(button_named(window->welcome_page(), "Begin with the first lesson"));
  REQUIRE(is_ready(*window));
  CHECK_FALSE(window->welcomes());
  LabPanel& lab = window->lab_panel();
  REQUIRE_FALSE(lab.answers().empty());
  const Question& question = lab.answers()[0].question;
  REQUIRE(question.kind == QuestionKind::choice);  // the first is answered by clicks alone
  for (auto* button : lab.findChildren<QPushButton*>())
    if (button->text().contains("before you run")) {
      click(button);
      break;
    }
  const QString right = QString::fromStdString(std::get<std::string>(*question.answer));
  for (auto* option : lab.findChildren<QRadioButton*>())
    if (option->accessibleName() == right) {
      click(option);
      break;
    }
  click(button_named(lab, "Submit"));
  REQUIRE(wait_until([&] { return lab.answers()[0].open(); }));
  CHECK(lab.answers()[0].right());
  CHECK(clicks <= 10);
}

TEST_CASE("A setting of the lesson's text is applied and becomes a row, and two rows are compared") {
  const QTemporaryDir folder;
  const auto window = window_on_lab(write_file(folder, "l.toml", small_plan(2) + trials), real_engine());
  LabPanel& lab = window->lab_panel();
  auto* view = window->findChild<ExperimentsView*>();
  REQUIRE(view != nullptr);
  const auto done = [&](std::size_t rows) {
    return wait_until([&] {
      return view->log().rows().size() == rows && view->log().rows().back().state == ExperimentRow::State::done &&
             window->settled();
    });
  };
  click_command(lab, "simulate");
  REQUIRE(done(1));
  click_command(lab, "micro_batches=8");
  CHECK(window->session().scenario()->plan.micro_batches == 8);
  CHECK(window->workspace().in_front(view));
  REQUIRE(done(2));
  CHECK(view->rows().words(0, 0) == "the lesson's plan");
  CHECK(view->rows().words(1, 0) == "micro_batches=8");
  CHECK(view->rows().words(1, 1) == "simulated");
  const auto bubble = [&](int row) { return view->rows().words(row, 3).toDouble(); };
  CHECK(bubble(1) < bubble(0));
  CHECK_FALSE(view->compare_button().isEnabled());
  view->choose({0, 1});
  REQUIRE(view->compare_button().isEnabled());
  QTest::mouseClick(&view->compare_button(), Qt::LeftButton);
  auto* compare = window->findChild<CompareView*>();
  CHECK(window->workspace().in_front(compare));
  CHECK(window->session().scenario()->plan.micro_batches == 4);
  REQUIRE(wait_until([&] { return compare->other().there() && window->settled(); }));
  CHECK(compare->other().name() == "micro_batches=8");
}

TEST_CASE("Another command of the text runs beside the window, and its row has what it printed") {
  const QTemporaryDir folder;
  const auto window = window_on_lab(write_file(folder, "l.toml", small_plan(2) + trials), real_engine());
  auto* view = window->findChild<ExperimentsView*>();
  click_command(window->lab_panel(), "verify");
  REQUIRE(view->log().rows().size() == 1);
  REQUIRE(wait_until([&] { return !view->log().busy(); }));
  CHECK(view->log().rows()[0].state == ExperimentRow::State::done);
  CHECK(view->log().rows()[0].output.contains("equals one rank"));
}

TEST_CASE("A command that runs a plan runs it, and its row has what was obtained") {
  const QTemporaryDir folder;
  const auto window = window_on_lab(write_file(folder, "l.toml", small_plan(2) + trials), real_engine());
  auto* view = window->findChild<ExperimentsView*>();
  click_command(window->lab_panel(), "run l --set micro_batches=2");
  const auto& rows = view->log().rows();
  REQUIRE(wait_until([&] { return !rows.empty() && rows.back().obtained != Obtained::simulated; }));
  CHECK(window->session().scenario()->plan.micro_batches == 2);
  CHECK(rows.back().name == "micro_batches=2");
  CHECK(rows.back().state == ExperimentRow::State::done);
}

TEST_CASE("A plan that is refused has a row that says why") {
  const QTemporaryDir folder;
  const auto window = window_on_lab(write_file(folder, "l.toml", small_plan(2) + trials), real_engine());
  auto* view = window->findChild<ExperimentsView*>();
  Scenario other = *window->session().scenario();
  other.plan.micro_batches = 3;  // of 16 samples
  window->session().edit(other);
  view->log().note_plan("micro_batches=3");
  const auto& rows = view->log().rows();
  REQUIRE(wait_until([&] { return !rows.empty() && rows.back().state == ExperimentRow::State::failed; }));
  CHECK_FALSE(rows.back().output.isEmpty());
  CHECK(window->session().state() == SessionState::ready);
}

TEST_CASE("An unknown setting is refused in the window, and the plan is unchanged") {
  const QTemporaryDir folder;
  const auto window = window_on_lab(write_file(folder, "l.toml", small_plan(2) + trials), real_engine());
  click_command(window->lab_panel(), "micro_batchs=2");
  CHECK(window->banner().is_error("experiment"));
  CHECK(window->session().scenario()->plan.micro_batches == 4);
  CHECK_FALSE(window->session().edited());
}

TEST_CASE("A link of the text selects the op it means, or the first of its parts") {
  const QTemporaryDir folder;
  const auto window = window_on_lab(write_file(folder, "l.toml", small_plan(2) + trials), real_engine());
  LessonText& text = text_with(window->lab_panel(), "a backward");
  emit text.anchorClicked(QUrl("view:memory?rank=1&op=B:c1:m2"));
  REQUIRE(window->state().selected().has_value());
  CHECK(window->state().selected()->rank == 1);
  CHECK(to_token(folded_to_chunk(window->state().selected()->op)) == "B:c1:m2");
  CHECK(window->workspace().in_front(window->view_named("memory")));
}

TEST_CASE("An op that is pointed at in the time line answers its question") {
  const QTemporaryDir folder;
  const QByteArray question =
      "[[lab.questions]]\nkind = \"point\"\nask = \"Click the backward of micro-batch 2 on rank 1.\"\n"
      "answer = { rank = 1, kind = \"backward\", micro_batch = 2 }\nwhy = \"There.\"\n";
  const auto window = window_on_lab(write_file(folder, "l.toml", small_lesson(question)), real_engine());
  LabPanel& lab = window->lab_panel();
  REQUIRE(button_named(lab, "Submit") != nullptr);
  CHECK_FALSE(button_named(lab, "Submit")->isEnabled());
  const auto spans = window->session().view()->step_spans(Obtained::simulated, 1);
  const auto expected = std::find_if(spans.begin(), spans.end(), [](const Span& span) {
    return span.rank == 1 && to_token(folded_to_chunk(span.op)) == "B:c1:m2";
  });
  REQUIRE(expected != spans.end());
  window->state().set_selected(SpanRef{1, 1, expected->op, Obtained::simulated});
  CHECK(words_in(lab).contains("backward, micro-batch 2, rank 1"));
  REQUIRE(button_named(lab, "Submit")->isEnabled());
  QTest::mouseClick(button_named(lab, "Submit"), Qt::LeftButton);
  REQUIRE(wait_until([&] { return lab.answers()[0].open(); }));
  CHECK(lab.answers()[0].right());
}

TEST_CASE("A variant is simulated for its question, whatever plan is shown") {
  const QTemporaryDir folder;
  const QByteArray question =
      "[[lab.questions]]\nask = \"And with eight micro-batches?\"\nunit = \"%\"\nset = { micro_batches = 8 }\n"
      "answer_from = \"bubble.ideal\"\ntolerance = 1\nwhy = \"One of nine.\"\n";
  const auto window = window_on_lab(write_file(folder, "l.toml", small_lesson(question)), real_engine());
  LabPanel& lab = window->lab_panel();
  lab.keep(0, 11.0);
  REQUIRE(wait_until([&] { return lab.answers()[0].open(); }));
  CHECK(*lab.answers()[0].result_number() == Approx(100.0 / 9));
  CHECK(lab.answers()[0].right());
  CHECK(lab.answers()[0].result_source == "Simulation");
  CHECK(window->session().scenario()->plan.micro_batches == 4);
}
