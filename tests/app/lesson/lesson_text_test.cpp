// SPDX-License-Identifier: GPL-3.0-or-later
// The layout of a lesson's text: commands, folded answers, and marked terms.
#include "app/lesson/lesson_text.hpp"

#include <QSignalSpy>
#include <QTest>

#include "tests/app/session/qt_application.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

const char* const lesson =
    "## Compare\nOne stage of p stages waits: try `--set micro_batches=16`, or\n\n"
    "    rankscope-engine verify pipeline-1f1b --set data=2\n\n"
    "    bubble = (p - 1)/m\n\n"
    "It takes 3 m of tape. Why does the peak fall?\n\n> Answer: Each is half as large,\n> and four are kept.\n\n"
    "See [the memory](view:memory?rank=2&step=3), and `code`.\n";

Glossary glossary() {
  Term stage{
      .name = "stage", .also = {"stages"}, .symbol = "p", .means = "A part of the layers.", .source = {}, .see = {}};
  Term micro{.name = "micro-batch", .also = {}, .symbol = "m", .means = "A part of a batch.", .source = {}, .see = {}};
  return Glossary({stage, micro});
}

void click(LessonText& text, const QString& link) {
  emit text.anchorClicked(QUrl(link));
  QTest::qWait(1);
}

}  // namespace

TEST_CASE("Commands of a lesson are links, whether they are in a line or have one of their own") {
  application();
  qRegisterMetaType<Experiment>();
  LessonText text(nullptr);
  text.set_lesson(QString::fromUtf8(lesson), glossary());
  REQUIRE(text.experiments().size() == 2);
  CHECK(text.experiments()[0].settings == std::vector<std::string>{"micro_batches=16"});
  CHECK(text.experiments()[1].command == "verify");
  CHECK(text.toPlainText().contains("rankscope-engine verify pipeline-1f1b --set data=2"));
  CHECK(text.toPlainText().contains("bubble = (p - 1)/m"));
  std::vector<Experiment> requested;
  QObject::connect(&text, &LessonText::experiment_wanted, [&](const Experiment& one) { requested.push_back(one); });
  click(text, "run:1");
  REQUIRE(requested.size() == 1);
  CHECK(requested[0].command == "verify");
  click(text, "run:9");
  CHECK(requested.size() == 1);
}

TEST_CASE("Answers are folded until they are asked for") {
  application();
  LessonText text(nullptr);
  text.set_lesson(QString::fromUtf8(lesson), glossary());
  CHECK_FALSE(text.toPlainText().contains("four are kept"));
  CHECK(text.toPlainText().contains("Show the answer"));
  click(text, "answer:0");
  CHECK(text.toPlainText().contains("Each is half as large, and four are kept."));
  click(text, "answer:0");
  CHECK_FALSE(text.toPlainText().contains("four are kept"));
}

TEST_CASE("A term is marked where it first appears, and a letter after a number is a unit") {
  application();
  LessonText text(nullptr);
  text.set_lesson("Many stages. One stage of p: it takes 3 m of tape, and m of them.", glossary(), {});
  std::vector<std::string> marked;
  for (const Term& term : text.marked_terms()) marked.push_back(term.name);
  CHECK(marked == std::vector<std::string>{"stage", "micro-batch"});
  // A term within a link is not marked; its next occurrence is.
  text.set_lesson("See [a stage](lab:grid) and the stages.", glossary(), {});
  REQUIRE(text.marked_terms().size() == 1);
  CHECK(text.marked_terms()[0].name == "stage");
  // The lesson's own meaning of a symbol has priority.
  text.set_lesson("With m of them.", glossary(), {{"m", "Here: the number of machines."}});
  REQUIRE(text.marked_terms().size() == 1);
  CHECK(text.marked_terms()[0].means == "Here: the number of machines.");
}

TEST_CASE("A link to a view names rank, step and op") {
  CHECK(evidence_of(QUrl("view:memory?rank=2&step=3")) == Evidence{"memory", 3, 2, ""});
  CHECK(evidence_of(QUrl("view:timeline?op=F:c0:m0")) == Evidence{"timeline", {}, {}, "F:c0:m0"});
  Evidence formats{"formats", {}, {}, ""};
  formats.inputs = {{"value", "2^-24"}, {"update", "1e-4"}, {"page", "number"}};
  CHECK(evidence_of(QUrl("view:formats?value=2^-24&update=1e-4&page=number")) == formats);
  CHECK_FALSE(evidence_of(QUrl("https://example.org")).has_value());
  application();
  LessonText text(nullptr);
  text.set_lesson(QString::fromUtf8(lesson));
  Evidence seen;
  QObject::connect(&text, &LessonText::view_wanted, [&](const Evidence& one) { seen = one; });
  click(text, "view:memory?rank=2&step=3");
  CHECK(seen.view == "memory");
}
