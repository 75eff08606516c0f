// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/view_history.hpp"

#include <QAction>
#include <QTest>

#include "app/shell/main_window.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

/// A state with some time in it, and a history that saves states immediately.
struct Looking {
  QApplication& everything = application();
  SharedState state;
  Session session;
  QByteArray layout = "first";
  ViewHistory history{
      state, session, {[this] { return layout; }, [this](const QByteArray& bytes) { layout = bytes; }}, 1};
  Looking() {
    state.set_extent({0, 1'000'000});
    state.set_visible({0, 1'000'000});
    state.hold();
    settle();
  }
  void settle() {
    REQUIRE(wait_until([this] { return !history.pending(); }));
  }
};

}  // namespace

TEST_CASE("A zoom can be undone and redone, and a new zoom clears the redo history") {
  Looking looking;
  looking.state.set_visible({1000, 500'000});
  looking.settle();
  looking.state.set_visible({2000, 300'000});
  looking.settle();
  looking.history.undo();
  CHECK(looking.state.visible() == TimeRange{1000, 500'000});
  REQUIRE(looking.history.can_redo());
  looking.history.redo();
  CHECK(looking.state.visible() == TimeRange{2000, 300'000});
  looking.history.undo();
  looking.state.set_visible({3000, 400'000});
  looking.settle();
  CHECK_FALSE(looking.history.can_redo());
  looking.history.undo();
  CHECK(looking.state.visible() == TimeRange{1000, 500'000});
}

TEST_CASE("Undo restores the selection and the layout") {
  Looking looking;
  const SpanRef op{1, 2, parse_token("F:c0:m0").value(), Obtained::simulated};
  looking.state.set_selected(op);
  looking.settle();
  looking.state.set_selected({});
  looking.settle();
  looking.history.undo();
  CHECK(looking.state.selected() == op);
  looking.layout = "second";
  looking.history.note_layout();
  looking.settle();
  looking.history.undo();
  CHECK(looking.layout == "first");
  looking.history.redo();
  CHECK(looking.layout == "second");
}

TEST_CASE("A drag is one undo step, also while it continues") {
  Looking looking;
  const TimeRange before = looking.state.visible();
  for (int i = 1; i <= 20; ++i) looking.state.set_visible({i * 1000, 500'000 + i * 1000});
  looking.history.undo();
  CHECK(looking.state.visible() == before);
}

TEST_CASE("Changes made by following a run cannot be undone") {
  Looking looking;
  const bool before = looking.history.can_undo();
  looking.state.set_follow(Follow::last_step);
  looking.state.set_step(7);
  looking.state.set_visible({100'000, 200'000});
  looking.settle();
  CHECK(looking.history.can_undo() == before);
}

TEST_CASE("In the window Ctrl+Z takes a change of the plan back") {
  application();
  MainWindow window(SessionOptions{}, Theme::dark, false);
  window.resize(1280, 800);
  window.show();
  window.open(QStringLiteral("pipeline-1f1b"));
  REQUIRE(wait_until([&] { return window.session().state() == SessionState::ready && window.settled(); }));
  QTest::qWait(600);
  Scenario changed = *window.session().scenario();
  changed.plan.schedule = "gpipe";
  window.session().edit(changed);
  QTest::qWait(600);
  for (QAction* action : window.actions())
    if (action->shortcut() == QKeySequence(QKeySequence::Undo)) action->trigger();
  CHECK(window.session().scenario()->plan.schedule == "1f1b");
}
