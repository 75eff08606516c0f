// SPDX-License-Identifier: GPL-3.0-or-later
// The table of students and answers, and the file of a class, without a window.
#include "app/lesson/class_table.hpp"

#include "app/views/common/text.hpp"

#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;
using classroom::Student;
using classroom::Tried;
using classroom::Verdict;

namespace {

const std::string nine = "2026-11-24T09:00:00Z", ten = "2026-11-24T10:00:00Z", eleven = "2026-11-24T11:00:00Z";

AskedQuestion share() {
  Question question;
  question.ask = "What share?";
  question.unit = "%";
  question.formula_value = 27.3;
  question.tolerance = 1;
  return {question, known_answer(question)};
}
/// Its right answer is a run's result.
AskedQuestion drawing(std::optional<Target> truth = std::nullopt) {
  Question question;
  question.kind = QuestionKind::draw;
  question.ask = "Draw it.";
  question.answer_from = "memory.*.peak";
  question.unit = "MiB";
  question.tolerance = 1;
  return {question, std::move(truth)};
}

Student student(const std::string& name, classroom::AnswersOfOne answers = {}, bool here = true) {
  Student one;
  one.name = name;
  one.here = here;
  one.answers = std::move(answers);
  return one;
}

std::vector<Student> some_class() {
  const std::vector<double> drawn{1, 2};
  return {
      student("grace", {{{"lab", 0}, {{10.0, 1, Verdict::wrong, nine}, {27.0, 2, Verdict::right, ten}}}}),
      student("Bob", {{{"lab", 0}, {{10.0, 1, Verdict::wrong, nine}}}}, false),
      student("Ada", {{{"lab", 0}, {{27.5, 1, Verdict::right, nine}}}, {{"lab", 1}, {{drawn, 1, Verdict::open, ten}}}}),
      student("Zoe")};
}

}  // namespace

TEST_CASE("The class table shows for each student: right at which try, wrong, waiting, not answered; and the counts") {
  const auto rows = class_rows(some_class(), "lab", {share(), drawing()});
  REQUIRE(rows.size() == class_summary_rows + 4);
  const auto words = [&](std::size_t row) {
    QStringList all;
    for (const Cell& cell : rows[row]) all << cell.words;
    return all;
  };
  CHECK(words(0) == QStringList{"answered", "3 of 4", "1 of 4"});
  CHECK(words(1) == QStringList{"right", "2 of 3", text::unknown()});
  CHECK(words(2) == QStringList{"Ada", QString::fromUtf8("✓ 1st try"), "? waits for a run"});
  CHECK(words(3) == QStringList{"Bob", QString::fromUtf8("✗ wrong"), QString::fromUtf8("· not yet")});
  CHECK(words(4) == QStringList{"grace", QString::fromUtf8("✓ 2nd try"), QString::fromUtf8("· not yet")});
  CHECK(words(5) == QStringList{"Zoe", QString::fromUtf8("· not yet"), QString::fromUtf8("· not yet")});
  CHECK(rows[2][1].tone == Tone::good);
  CHECK(rows[3][1].tone == Tone::bad);
  CHECK(rows[3][0].help == "not here now");
  CHECK(rows[4][1].help.contains("Try 1: 10"));
  CHECK(rows[4][1].help.contains("(wrong)"));
  CHECK(rows[4][1].help.contains(QString::fromStdString(ten)));
  CHECK(rows[2][2].help.contains(QString::fromUtf8("1, 2\u00a0MiB (not judged yet)")));
  CHECK(class_titles({share(), drawing()}) == QStringList{"student", "question 1", "question 2"});
}

TEST_CASE("HTML tags in students' texts are shown as text") {
  Question choice;
  choice.kind = QuestionKind::choice;
  choice.options = {"a", "b"};
  choice.answer = Target(std::string("a"));
  const std::string tag = "<img src='file:///etc/hostname'>";
  const auto rows =
      class_rows({student("Eve", {{{"lab", 0}, {{tag, 1, Verdict::right, nine}}}})}, "lab", {{choice, choice.answer}});
  CHECK_FALSE(rows[2][1].help.contains("<img"));
  CHECK(rows[2][1].help.contains("&lt;img"));
  CHECK(rows[2][1].words == QString::fromUtf8("✗ wrong"));
}

TEST_CASE("Answers of another lesson are not shown, and without questions the table has names only") {
  const auto other = class_rows(some_class(), "another", {share()});
  CHECK(other[0][1].words == "0 of 4");
  CHECK(class_rows(some_class(), "lab", {}).size() == class_summary_rows + 4);
  CHECK(class_rows({}, "lab", {share()})[0][1].words == "0 of 0");
}

TEST_CASE(
    "The teacher's window judges answers if the lesson states the value, and trusts the student's window if only a run "
    "does") {
  CHECK(judged(share(), {10.0, 1, Verdict::right, nine}) == false);
  CHECK(judged(share(), {27.0, 1, Verdict::wrong, nine}) == true);
  const std::vector<double> drawn{1, 2}, far{9, 9};
  CHECK(judged(drawing(), {drawn, 1, Verdict::open, nine}) == std::nullopt);
  CHECK(judged(drawing(), {drawn, 1, Verdict::right, nine}) == true);
  CHECK(judged(drawing(Target(far)), {drawn, 1, Verdict::open, nine}) == false);
  CHECK(judged(share(), {std::string("of another kind"), 1, Verdict::right, nine}) == false);
  CHECK(answer_state_of(share(), {{1.0, 1, Verdict::wrong, nine},
                                  {2.0, 2, Verdict::wrong, ten},
                                  {27.0, 1, Verdict::right, eleven}}) == AnswerState::later);
}

TEST_CASE("A class's file has a row for each student, question and try, and nothing that a spreadsheet executes") {
  std::vector<Student> students = some_class();
  students.push_back(student("=HYPERLINK(\"http://x\";\"a, b\")", {{{"lab", 0}, {{-3.0, 1, Verdict::wrong, nine}}}}));
  students.push_back(student(
      "@Eve", {{{"elsewhere", 4},
                {{std::string("+1+cmd"), 1, Verdict::right, nine}, {std::string(" -2+3"), 2, Verdict::open, ten}}}}));
  const ViewTable table = class_file(students, [](const std::string& lab) {
    return lab == "lab" ? std::vector<AskedQuestion>{share(), drawing()} : std::vector<AskedQuestion>{};
  });
  CHECK(table.titles == QStringList{"name", "lesson", "question", "words of the question", "kind", "answer", "unit",
                                    "verdict", "try", "time"});
  REQUIRE(table.rows.size() == 8);
  const auto row_of = [&](const QString& name, int which = 0) {
    for (const QStringList& row : table.rows)
      if (row[0] == name && which-- == 0) return row;
    return QStringList{};
  };
  CHECK(row_of("Ada") ==
        QStringList{"Ada", "lab", "1", "What share?", "number", "27.5", "%", "right", "1", "2026-11-24T09:00:00Z"});
  CHECK(row_of("Ada", 1) == QStringList{"Ada", "lab", "2", "Draw it.", "draw", "1 2", "MiB", "not judged yet", "1",
                                        "2026-11-24T10:00:00Z"});
  CHECK(row_of("grace", 1)[8] == "2");
  CHECK(row_of("'@Eve") ==
        QStringList{"'@Eve", "elsewhere", "5", "", "choice", "'+1+cmd", "", "right", "1", "2026-11-24T09:00:00Z"});
  CHECK(row_of("'@Eve", 1)[5] == "' -2+3");
  CHECK(row_of("'=HYPERLINK(\"http://x\";\"a, b\")")[5] == "-3");  // a number is not a formula
  for (const QStringList& row : table.rows)
    for (const QString& cell : row) {
      bool number = false;
      cell.toDouble(&number);
      INFO(cell.toStdString());
      CHECK((number || cell.trimmed().isEmpty() || !QString("=+-@").contains(cell.trimmed().front())));
    }
  const QByteArray csv = to_csv(table);
  CHECK(csv.contains("\r\n\"'=HYPERLINK(\"\"http://x\"\";\"\"a, b\"\")\",lab,1,"));
}
