// SPDX-License-Identifier: GPL-3.0-or-later
// How each kind of question is answered, and the text of its card afterwards.
#include "app/lesson/question_card.hpp"

#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QRadioButton>
#include <QTest>
#include <QToolButton>
#include <memory>

#include "app/lesson/answer_box.hpp"
#include "app/lesson/order_box.hpp"
#include "app/views/common/style.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

CardContext context() {
  CardContext made;
  made.colours = &palette_of(Theme::light);
  made.number = "Question 1 of 1";
  made.waits_for = "Press Run to check.";
  return made;
}

QString words_in(QWidget& widget) {
  QStringList all;
  for (const auto* label : widget.findChildren<QLabel*>()) all << label->text();
  return all.join(QLatin1Char('\n'));
}

QPushButton* submit_of(QWidget& widget) {
  for (auto* button : widget.findChildren<QPushButton*>())
    if (button->text() == QLatin1String("Submit")) return button;
  return nullptr;
}

Question bubble() {
  Question question;
  question.ask = "What share?";
  question.unit = "%";
  question.formula = "100 * 3/11";
  question.formula_value = 300.0 / 11;
  question.tolerance = 1;
  question.hint = "Count the steps.";
  question.why = "3 of 11.";
  question.mistakes = {{37.5, "That is a share of the useful time."}};
  return question;
}

}  // namespace

TEST_CASE("A number field accepts arithmetic, shows its value, and refuses other text") {
  application();
  NumberBox box(bubble(), nullptr);
  int submitted = 0;
  QObject::connect(&box, &AnswerBox::submitted, [&] { ++submitted; });
  CHECK_FALSE(box.attempt().has_value());
  QTest::keyClicks(box.line(), "100 * 3/11");
  CHECK(std::get<double>(*box.attempt()) == Approx(300.0 / 11));
  CHECK(words_in(box).contains("= 27.2727 %"));
  QTest::keyClick(box.line(), Qt::Key_Return);
  CHECK(submitted == 1);
  box.line()->setText("27.3 %");
  CHECK(std::get<double>(*box.attempt()) == 27.3);
  box.line()->setText("about a third");
  CHECK_FALSE(box.attempt().has_value());
  CHECK(words_in(box).contains("is not a number"));
}

TEST_CASE("An option is chosen by its button or by its words") {
  application();
  Question question;
  question.kind = QuestionKind::choice;
  question.options = {"forward", "backward"};
  ChoiceBox box(question, nullptr);
  box.show();
  CHECK_FALSE(box.attempt().has_value());
  box.findChildren<QRadioButton*>()[0]->click();
  CHECK(std::get<std::string>(*box.attempt()) == "forward");
  for (auto* label : box.findChildren<QLabel*>())
    if (label->text() == QLatin1String("backward")) QTest::mouseClick(label, Qt::LeftButton);
  CHECK(std::get<std::string>(*box.attempt()) == "backward");
}

TEST_CASE("Items are moved until their order is right") {
  application();
  Question question;
  question.kind = QuestionKind::order;
  question.options = {"forward", "backward", "update"};
  OrderBox box(question, nullptr);
  const auto items = [&] { return std::get<std::vector<std::string>>(*box.attempt()); };
  REQUIRE(items() != question.options);
  for (std::size_t want = 0; want < 3; ++want)
    for (std::size_t at = 2; at > want; --at)
      if (items()[at] == question.options[want]) box.move(at, -1);
  CHECK(items() == question.options);
  box.move(0, -1);  // there is no place before the first
  CHECK(items() == question.options);
}

TEST_CASE("Items can be dragged, or moved one position with Alt and the arrow keys or the buttons") {
  application();
  Question question;
  question.kind = QuestionKind::order;
  question.ask = "In which order?";
  question.options = {"forward", "backward", "update", "report"};
  OrderBox box(question, nullptr);
  box.resize(260, 240);
  box.show();
  REQUIRE(QTest::qWaitForWindowExposed(&box));
  const auto items = [&] { return std::get<std::vector<std::string>>(*box.attempt()); };
  int changes = 0;
  QObject::connect(&box, &AnswerBox::changed, [&] { ++changes; });
  QListWidget& list = box.list();
  // The last one is dropped before the first: the list moves its row, as it does at a drop of its own item.
  const std::vector<std::string> before = items();
  CHECK(list.dragDropMode() == QAbstractItemView::InternalMove);
  list.setCurrentRow(3);
  REQUIRE(list.model()->moveRow({}, 3, {}, 0));
  REQUIRE(wait_until([&] { return items() != before; }));
  CHECK(items() == std::vector<std::string>{before[3], before[0], before[1], before[2]});
  CHECK(changes == 1);
  CHECK(list.item(0)->text() == QString("1. %1").arg(QString::fromStdString(before[3])));
  list.setCurrentRow(0);
  QTest::keyClick(&list, Qt::Key_Down, Qt::AltModifier);
  CHECK(items() == std::vector<std::string>{before[0], before[3], before[1], before[2]});
  CHECK(list.currentRow() == 1);
  QTest::keyClick(&list, Qt::Key_Down);  // without Alt it selects
  CHECK(list.currentRow() == 2);
  CHECK(items() == std::vector<std::string>{before[0], before[3], before[1], before[2]});
  for (auto* button : box.findChildren<QToolButton*>())
    if (button->text() == QLatin1String("Earlier")) button->click();
  CHECK(items() == std::vector<std::string>{before[0], before[1], before[3], before[2]});
  bool sent = false;
  QObject::connect(&box, &AnswerBox::submitted, [&] { sent = true; });
  QTest::keyClick(&list, Qt::Key_Return);
  CHECK(sent);
  CHECK(list.verticalScrollBarPolicy() == Qt::ScrollBarAlwaysOff);
  CHECK(list.visualItemRect(list.item(3)).bottom() <= list.viewport()->height());
  // Text that needs two lines has them.
  question.options[0] = "the supervisor names rank 2 and stops all the others, which wait";
  OrderBox narrow(question, nullptr);
  narrow.resize(200, 300);
  narrow.show();
  REQUIRE(QTest::qWaitForWindowExposed(&narrow));
  int lines = 0;
  for (int i = 0; i < 4; ++i)
    lines += qRound(double(narrow.list().visualItemRect(narrow.list().item(i)).height() - 12) /
                    narrow.list().fontMetrics().height());
  CHECK(lines >= 5);
}

TEST_CASE("A rank or a link is answered by a click in its view, and a click on anything else is no answer") {
  application();
  Answer answer;
  answer.question.kind = QuestionKind::point;
  answer.question.at = PointAt::rank;
  answer.question.ask = "Which rank?";
  answer.question.answer = RankPattern{{2}};
  QuestionCard card(answer, context(), nullptr);
  CHECK(words_in(card).contains("Click it in the Grid, or in the time line."));
  card.set_chosen({.link = PointedLink{"node", 3, 0, 0}});
  CHECK_FALSE(submit_of(card)->isEnabled());
  card.set_chosen({.rank = PointedRank{2}});
  CHECK(words_in(card).contains("Selected: rank 2"));
  CHECK(submit_of(card)->isEnabled());
  answer.question.at = PointAt::link;
  answer.question.answer = LinkPattern{.level = "node"};
  QuestionCard other(answer, context(), nullptr);
  other.set_chosen({.link = PointedLink{"node", 3, 0, 0}});
  CHECK(words_in(other).contains("Selected: the uplink of node 3"));
  other.set_chosen({.link = PointedLink{"", 0, 3, 0}});
  CHECK(words_in(other).contains("Selected: the link from rank 3 to rank 0"));
}

TEST_CASE("A wrong answer gets its mistake's reason and another try; then the reason with the formula") {
  application();
  Answer answer;
  answer.question = bubble();
  {
    QuestionCard card(answer, context(), nullptr);
    REQUIRE(submit_of(card) != nullptr);
    CHECK_FALSE(submit_of(card)->isEnabled());
    std::vector<Attempt> sent;
    QObject::connect(&card, &QuestionCard::submitted, [&](const Attempt& one) { sent.push_back(one); });
    card.findChild<QLineEdit*>()->setText("37.5");
    submit_of(card)->click();
    REQUIRE(sent.size() == 1);
    CHECK(std::get<double>(sent[0]) == 37.5);
  }
  answer.tries.push_back({37.5, "2026-11-24T09:30:00Z"});
  {
    QuestionCard card(answer, context(), nullptr);
    CHECK(words_in(card).contains("Too high. One more try."));
    CHECK(words_in(card).contains("a share of the useful time"));
    CHECK_FALSE(words_in(card).contains("27.3"));
    CHECK_FALSE(words_in(card).contains("3 of 11."));
    CHECK(submit_of(card) != nullptr);
  }
  answer.tries.back().attempt = 50.0;
  CHECK(words_in(*std::make_unique<QuestionCard>(answer, context(), nullptr)).contains("Count the steps."));
  answer.tries.push_back({27.0, "2026-11-24T09:31:00Z"});
  {
    QuestionCard card(answer, context(), nullptr);
    const QString words = words_in(card);
    CHECK(words.contains(QString::fromUtf8("By the formula: 27.3\u00A0%.")));
    CHECK(words.contains("Right (0.3 points off; 1 allowed)"));
    CHECK(words.contains("3 of 11."));
    CHECK(words.contains("Answered on 2026-11-24."));
    CHECK(submit_of(card) == nullptr);
  }
}

TEST_CASE("An op is answered by a click in a view, and named before it is submitted") {
  application();
  Answer answer;
  answer.question.kind = QuestionKind::point;
  answer.question.ask = "Click it.";
  answer.question.answer = OpPattern{.rank = 1, .kind = OpKind::backward};
  QuestionCard card(answer, context(), nullptr);
  CHECK(words_in(card).contains("Click it in the time line."));
  CHECK_FALSE(submit_of(card)->isEnabled());
  card.set_chosen({.op = PointedOp{1, *parse_token("B:c1:m3")}});
  CHECK(words_in(card).contains("backward, micro-batch 3, rank 1"));
  CHECK(submit_of(card)->isEnabled());
}
