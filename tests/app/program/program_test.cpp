// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBlock>

#include "app/views/program/program_view.hpp"
#include "engine/plan/schedule/schedule.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/app/session/runs.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

PlanSpec plan_of_two_stages(int micro_batches = 2) {
  PlanSpec plan;
  plan.pipeline = 2;
  plan.micro_batches = micro_batches;
  return plan;
}

const char* const hand = "stage 0: F:c0:m0 F:c0:m1 B:c0:m0 B:c0:m1\nstage 1: F:c1:m0 B:c1:m0 F:c1:m1 B:c1:m1\n";

struct Editing {
  QApplication& everything = application();
  QTemporaryDir folder;
  SharedState state;
  Session session;
  std::unique_ptr<ProgramView> view;

  Editing() {
    view = std::make_unique<ProgramView>(state, session);
    view->resize(900, 300);
    view->show();
    QFile file(folder.filePath("small.toml"));
    REQUIRE(file.open(QIODevice::WriteOnly));
    file.write(
        QByteArray::fromStdString(to_toml(small_scenario("pipeline = 2\nschedule = \"gpipe\"\nmicro_batches = 2"))));
    file.close();
    session.open({SourceKind::scenario, file.fileName()});
    settle();
  }
  void settle() {
    REQUIRE(wait_until([&] { return session.state() == SessionState::ready && session.settled() && view->settled(); }));
  }
  QString line(int number) const { return view->editor().document()->findBlockByNumber(number).text(); }
  /// Puts the cursor after the last character of that line and types.
  void type_at_end_of(int number, const QString& keys) {
    QTextCursor cursor(view->editor().document()->findBlockByNumber(number));
    cursor.movePosition(QTextCursor::EndOfBlock);
    view->editor().setTextCursor(cursor);
    view->editor().setFocus();
    QTest::keyClicks(&view->editor(), keys);
  }
};

}  // namespace

TEST_CASE("A valid order has the bubble of its layout") {
  const OrderCheck check = check_order(hand, plan_of_two_stages());
  CHECK(check.ok);
  CHECK(check.units.size() == 8);
  CHECK(check.ideal_bubble == Approx(ideal_bubble(by_hand_schedule(hand, {2, 1, 2}))));
  CHECK(check.ideal_bubble == Approx(1.0 / 3));  // (p - 1)/(m + p - 1)
}

TEST_CASE("An order for no micro-batch is refused, not laid out") {
  PlanSpec none = plan_of_two_stages();
  none.micro_batches = 0;
  const OrderCheck check = check_order("stage 0:\nstage 1:\n", none);
  CHECK_FALSE(check.ok);
  CHECK(check.message == "an order needs at least one micro-batch");
}

TEST_CASE("An order's picture is the textbook's time line, and a click on a box finds the op in the text") {
  const OrderCheck check = check_order(hand, plan_of_two_stages());
  std::string drawn;
  for (const UnitOp& op : check.units)
    drawn += to_token(op.op) + " " + std::to_string(op.begin) + "-" + std::to_string(op.end) + " ";
  CHECK(drawn == "F:c0:m0 0-1 F:c0:m1 1-2 B:c0:m0 4-6 B:c0:m1 7-9 F:c1:m0 1-2 B:c1:m0 2-4 F:c1:m1 4-5 B:c1:m1 5-7 ");

  Editing editing;
  OrderPicture& picture = editing.view->picture();
  REQUIRE(picture.isVisible());
  const auto units = check_order(to_text(gpipe_schedule({2, 1, 2})), plan_of_two_stages()).units;
  const UnitOp last = units.back();  // of stage 1: the second micro-batch's backward
  const QRectF box = picture.box_of(last), first = picture.box_of(units.front());
  CHECK(box.width() == Approx(2 * first.width()).margin(2));
  CHECK(box.top() > first.bottom());
  REQUIRE(picture.op_at(box.center()) != nullptr);
  QTest::mouseClick(&picture, Qt::LeftButton, {}, box.center().toPoint());
  CHECK(editing.view->editor().textCursor().selectedText().toStdString() == to_token(last.op));
  CHECK(editing.view->editor().textCursor().blockNumber() == 1);
}

TEST_CASE("An error in an order is reported with its line and its op") {
  const OrderCheck doubled = check_order("stage 0: F:c0:m0 F:c0:m0", plan_of_two_stages());
  CHECK_FALSE(doubled.ok);
  CHECK(doubled.line == 1);
  CHECK(doubled.token == "F:c0:m0");
  const OrderCheck unknown = check_order(std::string(hand) + "stage 7: F:c0:m0", plan_of_two_stages());
  CHECK(unknown.line == 3);
  CHECK(unknown.message.find("stage N") != std::string::npos);
  const OrderCheck missing = check_order("stage 0: F:c0:m0\n", plan_of_two_stages(1));
  CHECK(missing.line == 0);
  CHECK(missing.message.find("missing") != std::string::npos);
  CHECK_FALSE(check_order("", plan_of_two_stages()).ok);
}

TEST_CASE("Choosing \"by hand\" begins with the present order, and leaving it removes the order") {
  PlanSpec plan = plan_of_two_stages();
  plan.schedule = "gpipe";
  choose_schedule(plan, ScheduleKind::by_hand);
  CHECK(plan.order == to_text(gpipe_schedule({2, 1, 2})));
  CHECK(check_order(plan.order, plan).ok);
  choose_schedule(plan, ScheduleKind::one_f_one_b);
  CHECK(plan.order.empty());
}

TEST_CASE("The text begins as the schedule's own, and a mistake marks its line and does not change the plan") {
  Editing editing;
  CHECK(editing.view->editor().toPlainText().toStdString() == to_text(gpipe_schedule({2, 1, 2})));
  editing.type_at_end_of(1, " F:c1:m0");
  REQUIRE(wait_until([&] { return editing.view->settled() && !editing.view->check().ok; }));
  CHECK(editing.view->check().line == 2);
  CHECK(editing.view->words().startsWith("Line 2:"));
  CHECK(editing.view->words().contains("twice"));
  const auto marks = editing.view->editor().extraSelections();
  REQUIRE(marks.size() == 2);
  CHECK(marks[0].cursor.blockNumber() == 1);
  CHECK(marks[1].cursor.selectedText() == "F:c1:m0");
  CHECK(marks[1].cursor.selectionEnd() == marks[0].cursor.selectionEnd());  // the last of the two
  CHECK(editing.session.scenario()->plan.schedule == "gpipe");
  CHECK_FALSE(editing.session.edited());
}

TEST_CASE("A completely typed order becomes the plan, is predicted, and can be run") {
  Editing editing;
  const double before = editing.session.figures().latest()->predicted->step_seconds;
  editing.view->editor().selectAll();
  editing.view->editor().setFocus();
  // One micro-batch after the other: a longer step.
  QTest::keyClicks(&editing.view->editor(), "stage 0: F:c0:m0 B:c0:m0 F:c0:m1 B:c0:m1");
  QTest::keyClick(&editing.view->editor(), Qt::Key_Return);
  QTest::keyClicks(&editing.view->editor(), "stage 1: F:c1:m0 B:c1:m0 F:c1:m1 B:c1:m1");
  REQUIRE(
      wait_until([&] { return editing.view->settled() && editing.session.scenario()->plan.schedule == "by-hand"; }));
  editing.settle();
  CHECK(editing.session.refusal().isEmpty());
  CHECK(editing.session.can_run());
  CHECK(editing.session.figures().latest()->predicted->step_seconds > 1.15 * before);
  CHECK(editing.line(0) == "stage 0: F:c0:m0 B:c0:m0 F:c0:m1 B:c0:m1");  // as typed
  CHECK(editing.session.overrides().join(' ').contains("plan.order=stage 0: F:c0:m0"));
  editing.session.revert();
  editing.settle();
  CHECK(editing.view->editor().toPlainText().toStdString() == to_text(gpipe_schedule({2, 1, 2})));
}

TEST_CASE("Another plan has another text, and a rank's whole program is read-only") {
  Editing editing;
  Scenario changed = *editing.session.scenario();
  changed.plan.schedule = "1f1b";
  editing.session.edit(changed);
  editing.settle();
  CHECK(editing.view->editor().toPlainText().toStdString() == to_text(one_f_one_b_schedule({2, 1, 2})));
  editing.view->show_program(1);
  REQUIRE(wait_until([&] { return editing.view->editor().toPlainText().contains("RECV.pipeline_forward"); }));
  CHECK(editing.view->editor().isReadOnly());
  CHECK(editing.view->editor().toPlainText().toStdString() ==
        to_text(editing.session.figures().latest()->context->programs[1]));
  editing.view->show_program(-1);
  CHECK_FALSE(editing.view->editor().isReadOnly());
  CHECK(editing.view->editor().toPlainText().startsWith("stage 0:"));
}
