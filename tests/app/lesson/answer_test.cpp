// SPDX-License-Identifier: GPL-3.0-or-later
// A student's tries, the feedback, and how they are saved.
#include "app/lesson/answer.hpp"

#include <QFile>
#include <QTemporaryDir>

#include "app/lesson/answer_book.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

QString u(const char* text) { return QString::fromUtf8(text); }

Question number(const std::string& unit, double tolerance) {
  Question question;
  question.ask = "How much?";
  question.unit = unit;
  question.answer_from = "bubble.measured";
  question.tolerance = tolerance;
  return question;
}

/// Answered twice if once does not settle it, like a student who insists.
Answer answered(const Question& question, double guess, std::optional<double> result = {}) {
  Answer answer;
  answer.question = question;
  if (result) answer.result = *result;
  while (answer.accepts_try() && answer.tries.size() < most_tries) {
    answer.tries.push_back({guess, "2026-11-24T09:30:00Z"});
    if (!answer.truth()) break;
  }
  return answer;
}

}  // namespace

TEST_CASE("An answer that only a run can judge opens after an answer and a run") {
  Answer answer;
  answer.question = number("", 2);
  CHECK_FALSE(answer.open());
  CHECK(answer.accepts_try());
  answer.tries.push_back({27.0, {}});
  CHECK(answer.waits());
  CHECK_FALSE(answer.open());
  CHECK_FALSE(answer.accepts_try());
  answer.result = 28.5;
  CHECK(answer.open());
  CHECK(answer.right());
  answer.result = 31.0;  // during a run its value may change: the answer is wrong now, and there is another try
  CHECK_FALSE(answer.right());
  CHECK(answer.accepts_try());
}

TEST_CASE("With a formula an answer is judged at once; after two wrong ones it is open") {
  Answer answer;
  answer.question = number("%", 1);
  answer.question.formula_value = 300.0 / 11;
  answer.tries.push_back({37.5, {}});
  CHECK(answer.reply()->grade == Grade::wrong);
  CHECK(answer.accepts_try());
  CHECK_FALSE(answer.open());
  CHECK(verdict_words(answer) == "Too high. One more try.");  // the distance would reveal the answer
  answer.tries.push_back({27.0, {}});
  CHECK(answer.right());
  CHECK(answer.open());
  answer.tries.back().attempt = 20.0;
  CHECK_FALSE(answer.right());
  CHECK(answer.open());
  CHECK(verdict_words(answer) == "7.3 points too low (1 allowed)");
}

TEST_CASE("A verdict says how far off an answer is, which way, and how far it may be") {
  const auto verdict = [](const std::string& unit, double guess, double result, double tolerance) {
    return verdict_words(answered(number(unit, tolerance), guess, result));
  };
  CHECK(verdict("%", 27, 29.7, 4) == "Right (2.7 points off; 4 allowed)");
  CHECK(verdict("MiB", 13.4, 10, 3) == u("3.4\u00A0MiB too high (3 allowed)"));
  CHECK(verdict("%", 25, 20, 3) == "5.0 points too high (3 allowed)");
  CHECK(verdict("%", 8, 13.1, 6) == "Close (5.1 points too low; 6 allowed)");
  CHECK(verdict("", 6, 6, 1) == "Right (exact)");
}

TEST_CASE("Answers of every kind are kept with their times, and are there again") {
  const QTemporaryDir folder;
  const QString file = folder.filePath("below/answers.json");
  Question choice, order, draw, point;
  choice.kind = QuestionKind::choice;
  choice.ask = "Which?";
  choice.options = {"a", "b"};
  choice.answer = std::string("b");
  order.kind = QuestionKind::order;
  order.ask = "In which order?";
  order.options = {"x", "y"};
  order.answer = order.options;
  draw.kind = QuestionKind::draw;
  draw.ask = "Draw.";
  draw.answer_from = "memory.*.peak";
  draw.tolerance = 1;
  point.kind = QuestionKind::point;
  point.ask = "Click it.";
  point.answer = OpPattern{.rank = 2};
  struct Row {
    Question question;
    Attempt attempt;
    std::optional<Target> result;
  };
  const std::vector<Row> rows{{number("%", 2), 27.25, Target(28.0)},
                              {choice, std::string("b"), {}},
                              {order, std::vector<std::string>{"y", "x"}, {}},
                              {draw, std::vector<double>{4, 3, 2}, Target(std::vector<double>{4, 3, 3})},
                              {point, PointedOp{2, *parse_token("F:c2:m0")}, {}}};
  {
    AnswerBook book(file);
    CHECK(book.trouble().isEmpty());
    for (const Row& row : rows) {
      Answer answer;
      answer.question = row.question;
      answer.tries = {{row.attempt, "2026-11-24T09:30:00Z"}};
      answer.result = row.result;
      answer.result_source = "Run";
      CHECK(book.keep("lab", answer).isEmpty());
    }
  }
  const AnswerBook book(file);
  for (const Row& row : rows) {
    Answer answer;
    answer.question = row.question;
    book.fill("lab", answer);
    INFO(row.question.ask);
    REQUIRE(answer.tries.size() == 1);
    CHECK(answer.tries[0] == Try{row.attempt, "2026-11-24T09:30:00Z"});
    CHECK(answer.result == row.result);
    Answer elsewhere;
    elsewhere.question = row.question;
    book.fill("another lab", elsewhere);
    CHECK(elsewhere.tries.empty());
  }
  Lab lab;
  lab.file = "labs/lab.toml";
  for (const Row& row : rows) lab.questions.push_back(row.question);
  CHECK(book.answered(lab) == 4);  // the order was wrong, and there is another try
}

TEST_CASE("A deleted answer stays deleted, and an unreadable file is renamed") {
  const QTemporaryDir folder;
  const QString file = folder.filePath("answers.json");
  Answer answer = answered(number("%", 2), 27, 28);
  AnswerBook book(file);
  CHECK(book.keep("lab", answer).isEmpty());
  answer.tries.clear();
  CHECK(book.keep("lab", answer).isEmpty());
  Answer again;
  again.question = answer.question;
  AnswerBook(file).fill("lab", again);
  CHECK(again.tries.empty());

  QFile out(file);
  REQUIRE(out.open(QIODevice::WriteOnly));
  out.write("{ half");
  out.close();
  const AnswerBook damaged(file);
  CHECK(damaged.trouble().contains("answers.json.unreadable"));
  CHECK(QFile::exists(file + ".unreadable"));
  CHECK_FALSE(QFile::exists(file));
}
