// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/puzzle/puzzle_view.hpp"

#include <QSignalSpy>
#include <QTest>

#include "app/views/puzzle/puzzle_words.hpp"
#include "engine/plan/schedule/builder.hpp"
#include "tests/app/painted_text.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

struct ShownPuzzle {
  QApplication& program = application();
  SharedState state;
  Session session;
  PuzzleView view{state, session};
  PuzzleBoard& board = view.board();

  explicit ShownPuzzle(QSize size = {1100, 520}) {
    view.resize(size);
    view.show();
    QTest::qWait(10);
  }
  void rules(int stages, int micro_batches, int kept = 0, bool halves = false) {
    view.stages_box()->setValue(stages);
    view.micro_batches_box()->setValue(micro_batches);
    view.kept_box()->setValue(kept);
    view.halves_box()->setChecked(halves);
  }
  void click(OpId box) { QTest::mouseClick(&board, Qt::LeftButton, {}, board.box_rect(box).center().toPoint()); }
  /// Like a hand: press, move, release.
  void drag(OpId box, QPoint to) {
    const QPoint from = board.box_rect(box).center().toPoint();
    QTest::mousePress(&board, Qt::LeftButton, {}, from);
    move(from, (from + to) / 2);
    move((from + to) / 2, to);
    QTest::mouseRelease(&board, Qt::LeftButton, {}, to);
  }
  bool contains(const QString& words) {
    QString all;
    for (const PaintedText& text : painted_texts(view)) all += text.words + QLatin1Char(' ');
    return all.simplified().contains(words);
  }

 private:
  void move(QPoint from, QPoint to) {
    QMouseEvent event(QEvent::MouseMove, to, board.mapToGlobal(to), Qt::NoButton, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&board, &event);
    CHECK(from != to);
  }
};

}  // namespace

TEST_CASE("Clicks place ready boxes at the end of their rows; a box that is not ready says what it needs") {
  ShownPuzzle shown;
  shown.rules(2, 2);
  shown.click(forward_of(1, 0));
  CHECK(shown.board.puzzle().placed_count() == 0);
  CHECK(shown.contains("F0 of stage 1 needs the activations of F0 of stage 0, which is not placed yet."));
  shown.click(forward_of(0, 0));
  CHECK(shown.board.puzzle().placed(forward_of(0, 0)));
  CHECK_FALSE(shown.contains("needs the activations"));
  for (const OpId box : {forward_of(1, 0), backward_of(1, 0), forward_of(0, 1), backward_of(0, 0), forward_of(1, 1),
                         backward_of(1, 1), backward_of(0, 1)})
    shown.click(box);
  CHECK(shown.board.puzzle().complete());
  CHECK(shown.board.puzzle().layout().end == 9);
  CHECK(shown.contains("Complete: 9 units, bubble 33.3 % of (step × stages). No order is shorter."));
  CHECK(shown.view.table().rows.size() == 8);
  CHECK(shown.view.table().rows[0] == QStringList{"0", "F0", "0", "1", "1"});
}

TEST_CASE("A box is dragged into its row, within it, and out of it; a wrong row and a full memory refuse it") {
  ShownPuzzle shown;
  shown.rules(2, 3, 2);
  const auto row = [&](int stage, double x) {
    return QPointF(shown.board.row_rect(stage).left() + x, shown.board.row_rect(stage).center().y()).toPoint();
  };
  shown.drag(forward_of(0, 0), row(1, 20));
  CHECK(shown.board.puzzle().placed_count() == 0);
  CHECK(shown.contains("F0 runs on stage 0 only"));
  shown.drag(forward_of(0, 0), row(0, 20));
  shown.drag(forward_of(0, 1), row(0, 2));  // before it
  CHECK(shown.board.puzzle().rows()[0] == std::vector{forward_of(0, 1), forward_of(0, 0)});
  shown.drag(forward_of(0, 2), row(0, 200));
  CHECK(shown.contains("With F2 there, stage 0 would keep more than 2 micro-batches. A B frees one."));
  CHECK(shown.board.puzzle().placed_count() == 2);
  shown.drag(forward_of(0, 1), row(0, 300));  // to the end
  CHECK(shown.board.puzzle().rows()[0] == std::vector{forward_of(0, 0), forward_of(0, 1)});
  shown.drag(forward_of(0, 1), QPoint(300, shown.board.height() - 3));
  CHECK(shown.board.puzzle().rows()[0] == std::vector{forward_of(0, 0)});
  QTest::mouseClick(shown.view.undo_button(), Qt::LeftButton);
  CHECK(shown.board.puzzle().placed_count() == 2);
  QTest::mouseDClick(&shown.board, Qt::LeftButton, {}, shown.board.box_rect(forward_of(0, 1)).center().toPoint());
  CHECK(shown.board.puzzle().placed_count() == 1);
}

TEST_CASE("Keys choose, place, move and take back") {
  ShownPuzzle shown;
  shown.rules(2, 2);
  shown.board.setFocus();
  QTest::keyClick(&shown.board, Qt::Key_Return);  // F0 of stage 0
  QTest::keyClick(&shown.board, Qt::Key_Right);
  QTest::keyClick(&shown.board, Qt::Key_Space);  // F1
  QTest::keyClick(&shown.board, Qt::Key_Left, Qt::ShiftModifier);
  CHECK(shown.board.puzzle().rows()[0] == std::vector{forward_of(0, 1), forward_of(0, 0)});
  QTest::keyClick(&shown.board, Qt::Key_Right, Qt::ShiftModifier);
  CHECK(shown.board.puzzle().rows()[0] == std::vector{forward_of(0, 0), forward_of(0, 1)});
  QTest::keyClick(&shown.board, Qt::Key_Down);
  QTest::keyClick(&shown.board, Qt::Key_Return);  // F1 of stage 1
  CHECK(shown.board.puzzle().placed(forward_of(1, 1)));
  CHECK(shown.board.accessibleDescription().contains("3 of 8 boxes"));
  QTest::keyClick(&shown.board, Qt::Key_Up);
  QTest::keyClick(&shown.board, Qt::Key_Delete);  // F1 of stage 0, and what needs it
  CHECK(shown.board.puzzle().rows() == Puzzle::Rows{{forward_of(0, 0)}, {}});
}

TEST_CASE("A known order is put on the board, and a complete one is offered to be trained with") {
  ShownPuzzle shown;
  shown.rules(4, 8);
  QTest::mouseClick(shown.view.run_button(), Qt::LeftButton);
  CHECK(shown.view.second_words() == "Place all boxes first.");
  shown.rules(4, 7);
  shown.rules(4, 8);
  REQUIRE(shown.view.known_menu()->actions().size() == 6);
  CHECK(shown.view.second_words() == "Par is in the menu Orders.");  // which would answer a lesson's question
  CHECK_FALSE(shown.contains("33"));
  shown.view.known_menu()->actions()[1]->trigger();
  CHECK(shown.contains("par 33"));
  CHECK(shown.view.second_words() == "Par is 33 units, by 1f1b. No order takes less than 33 units.");
  shown.rules(4, 8, 4);
  REQUIRE(shown.view.known_menu()->actions().size() == 5);
  CHECK(shown.view.known_menu()->actions()[3]->text() == "1f1b");
  shown.view.known_menu()->actions()[3]->trigger();
  CHECK(shown.board.puzzle().complete());
  CHECK(shown.view.state_words().contains("33 units"));
  QSignalSpy wanted(&shown.view, &PuzzleView::run_wanted);
  QTest::mouseClick(shown.view.run_button(), Qt::LeftButton);
  REQUIRE(wanted.size() == 1);
  const auto settings = wanted[0][0].value<std::vector<std::string>>();
  REQUIRE(settings.size() == 5);
  CHECK(settings[0] == "plan.pipeline=4");
  CHECK(settings[2] == "plan.micro_batches=8");
  CHECK(settings[4].starts_with("plan.order=stage 0: F:c0:m0 F:c0:m1"));
  shown.rules(4, 8, 3);
  shown.view.known_menu()->actions()[3]->trigger();  // naive: every other keeps more
  CHECK(shown.view.state_words().contains("96 units"));
}

TEST_CASE("A lesson's link sets the rules and begins with an empty board; what it leaves out is free") {
  ShownPuzzle shown;
  shown.view.show_inputs({{"stages", "3"}, {"micro_batches", "6"}, {"kept", "2"}, {"halves", "1"}});
  CHECK(shown.board.puzzle().rules() == PuzzleRules{3, 6, true, 2});
  CHECK(shown.view.kept_box()->value() == 2);
  CHECK(shown.view.halves_box()->isChecked());
  shown.click(forward_of(0, 0));
  shown.view.show_inputs({{"stages", "2"}});
  CHECK(shown.board.puzzle().rules() == PuzzleRules{2, 6, false, 0});
  CHECK(shown.board.puzzle().placed_count() == 0);
}

TEST_CASE("The rules are those of the open plan while nothing is on the board") {
  ShownPuzzle shown;
  const std::string file = test::source_folder() + "/scenarios/labs/schedule-by-hand.toml";
  shown.session.open({SourceKind::scenario, QString::fromStdString(file)});
  REQUIRE(wait_until([&] { return shown.session.scenario().has_value(); }));
  CHECK(shown.board.puzzle().rules() == PuzzleRules{2, 4, false, 0});
}

TEST_CASE("No text of the puzzle is cut or covered, with few boxes and with many") {
  const QSize size = GENERATE(QSize(1366, 500), QSize(904, 433), QSize(640, 420));
  const PuzzleRules rules = GENERATE(PuzzleRules{2, 4, false, 0}, PuzzleRules{6, 8, true, 6});
  ShownPuzzle shown(size);
  shown.rules(rules.stages, rules.micro_batches, rules.kept, rules.halves);
  shown.view.known_menu()->actions()[3]->trigger();
  const auto texts = painted_texts(shown.board);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    INFO(texts[i].words.toStdString());
    CHECK(QRectF(shown.board.rect()).adjusted(-1, -1, 1, 1).contains(texts[i].box));
    for (std::size_t j = 0; j < i; ++j) {
      const QRectF shared = texts[i].box.intersected(texts[j].box);
      INFO("over " << texts[j].words.toStdString());
      CHECK((shared.width() < 2 || shared.height() < 5));
    }
  }
}
