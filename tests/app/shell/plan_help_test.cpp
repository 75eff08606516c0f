// SPDX-License-Identifier: GPL-3.0-or-later
// The parts below the plan: helpful changes, and the proof that it is the same training. And tabs that do not fit.
#include <QFile>
#include <QMenu>
#include <QPushButton>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "app/shell/main_window.hpp"
#include "app/shell/plan_panel.hpp"
#include "app/shell/proof_section.hpp"
#include "app/shell/tab_overflow.hpp"
#include "app/shell/workspace.hpp"
#include "app/views/common/style.hpp"
#include "engine/plan/scenario/keys.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

constexpr const char* small_pipeline = R"(title = "a small pipeline"
[model]
layers = 8
width = 32
heads = 2
context = 16
vocabulary = 64
[plan]
pipeline = 4
micro_batches = 8
[train]
global_batch = 16
)";

/// A scenario without a lesson, in a window whose engine is the given program.
struct Opened {
  QTemporaryDir folder;
  std::unique_ptr<MainWindow> window;

  explicit Opened(const QByteArray& engine = {}) {
    application().setFont(interface_font());
    QFile scenario(folder.filePath("small.toml"));
    REQUIRE(scenario.open(QIODevice::WriteOnly));
    scenario.write(small_pipeline);
    scenario.close();
    SessionOptions options;
    if (!engine.isEmpty()) {
      QFile program(folder.filePath("engine"));
      REQUIRE(program.open(QIODevice::WriteOnly));
      program.write(engine);
      program.close();
      program.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
      options.engine = program.fileName();
    }
    window = std::make_unique<MainWindow>(options, Theme::dark, false);
    window->resize(1280, 800);
    window->show();
    window->open(scenario.fileName());
    REQUIRE(wait_until([&] { return window->session().state() == SessionState::ready && window->settled(); }));
  }
  QPushButton* button(const QString& text) const {
    for (auto* found : window->plan_panel().findChildren<QPushButton*>())
      if (found->text() == text) return found;
    return nullptr;
  }
  ProofSection& proof() const { return *window->plan_panel().findChild<ProofSection*>(); }
};

}  // namespace

TEST_CASE("The panel has a field for every key of the plan, but for those that are edited as text") {
  Opened opened;
  std::set<std::string> keys = opened.window->findChild<PlanPanel*>()->keys();
  keys.insert({"plan.order", "plan.pass_times"});
  for (const Key& key : scenario_keys())
    if (key.is_of_plan() && !key.only_read) {
      INFO(key.path());
      CHECK(keys.contains(key.path()));
    }
}

TEST_CASE("Better plans are listed under the plan, and a click on one applies it") {
  const Opened opened;
  const auto advice = opened.window->plan_panel().adviser().latest();
  REQUIRE(advice);
  REQUIRE_FALSE(worth_trying(*advice).empty());
  const Alternative best = worth_trying(*advice).front();
  QPushButton* change = opened.button(QString::fromStdString(best.change));
  REQUIRE(change);
  CHECK(change->accessibleDescription().startsWith("step −"));
  QTest::mouseClick(change, Qt::LeftButton);
  REQUIRE(opened.window->session().scenario());
  CHECK(opened.window->session().scenario()->plan == best.plan);
  REQUIRE(wait_until([&] { return opened.window->settled(); }));
  CHECK(opened.window->plan_panel().adviser().latest()->now.step_seconds == Approx(best.step_seconds));
}

TEST_CASE("While a lab's question is open no better plans are listed") {
  application().setFont(interface_font());
  MainWindow window({}, Theme::dark, false);
  window.show();
  window.open("pipeline-1f1b");
  REQUIRE(wait_until([&] { return window.session().state() == SessionState::ready && window.settled(); }));
  REQUIRE(window.plan_panel().adviser().latest());
  const auto* list = window.plan_panel().findChild<AlternativesList*>();
  const auto buttons = list->findChildren<QPushButton*>();
  REQUIRE(buttons.size() == 1);
  CHECK(buttons.front()->text() == "Show anyway");
}

TEST_CASE("A plan is proved against one rank on demand, and the proof is not valid for another plan") {
  const Opened opened(R"(#!/bin/sh
test "$1" = verify || exit 3
cat <<END
{"verify": {"passed": true, "replayed": false, "losses": 2.3e-9, "gradients": 5.7e-7, "parameters": 1.7e-7,
"tolerance": 1e-5, "tensors": 202, "bit_equal": 21}}
END
)");
  QPushButton* verify = opened.button("Verify against one rank");
  REQUIRE(verify);
  QTest::mouseClick(verify, Qt::LeftButton);
  REQUIRE(wait_until([&] { return opened.proof().proof().state() == Proof::State::passed; }));
  CHECK(opened.proof().proof().words() ==
        "✓ Same training as on one rank: 202 tensors, 21 bit-equal; largest relative error 5.7e-07, of gradients "
        "(tolerance 1e-05)");
  Scenario other = *opened.window->session().scenario();
  other.plan.micro_batches = 4;
  opened.window->session().edit(other);
  CHECK(opened.proof().proof().state() == Proof::State::none);
}

TEST_CASE("A failed, a missing and a stopped proof are reported") {
  const Verdict failed =
      verdict_of(R"({"verify": {"passed": false, "losses": 0.5, "gradients": 0.1, "parameters": 0, "tensors": 7}})");
  CHECK_FALSE(failed.passed);
  CHECK(failed.words.startsWith("✗ Not the same training: 7 tensors"));
  CHECK(failed.words.contains("5.0e-01, of losses"));
  const Verdict unknown = verdict_of(
      R"({"verify": {"passed": false, "outcome": "not shown", "reason": "2 of 7 tensors moved too little"}})");
  CHECK_FALSE(unknown.passed);
  CHECK_FALSE(unknown.shown);
  CHECK(unknown.words == "Not shown: no difference found, but 2 of 7 tensors moved too little");
  const Verdict defined = verdict_of(
      R"({"verify": {"passed": true, "outcome": "equal", "reason": null, "losses": null, "tensors": 0, "bit_equal": 0,
          "contents": {"operation": "all_to_all", "ranks": 8, "steps": 5, "elements": 2000000}}})");
  CHECK(defined.passed);
  CHECK(defined.words == "✓ Every rank has the defined result: 2000000 numbers in each of 5 steps");
  const Verdict wrong = verdict_of(
      R"({"verify": {"passed": false, "outcome": "different", "reason": "element 5 on rank 1 is 7",
          "contents": {"operation": "all_to_all", "ranks": 8, "steps": 5, "elements": 2000000}}})");
  CHECK_FALSE(wrong.passed);
  CHECK(wrong.shown);
  CHECK(wrong.words == "✗ Not the defined result: element 5 on rank 1 is 7");
  CHECK_THROWS(verdict_of("{}"));
  CHECK_THROWS(verdict_of("not JSON"));

  const Opened refusing("#!/bin/sh\necho 'this plan cannot run here' >&2\nexit 2\n");
  QTest::mouseClick(refusing.button("Verify against one rank"), Qt::LeftButton);
  REQUIRE(wait_until([&] { return refusing.proof().proof().state() == Proof::State::failed; }));
  CHECK(refusing.proof().proof().words().contains("this plan cannot run here"));

  const Opened slow("#!/bin/sh\nsleep 600\n");
  QTest::mouseClick(slow.button("Verify against one rank"), Qt::LeftButton);
  REQUIRE(slow.proof().proof().state() == Proof::State::running);
  QPushButton* stop = slow.button("Stop");
  REQUIRE(stop);
  QTest::mouseClick(stop, Qt::LeftButton);
  CHECK(slow.proof().proof().state() == Proof::State::none);
}

TEST_CASE("Tabs without room are in a list at the end, none is cut, and the selected one is always visible") {
  const Opened opened;
  auto* bar = opened.window->workspace().findChild<QTabBar*>();
  REQUIRE(bar);
  auto* more = opened.window->workspace().findChild<QToolButton*>("moreTabs");
  REQUIRE(more);
  // Layout follows in the event loop, which may have much to paint.
  const auto settle = [&] {
    QCoreApplication::processEvents();
    QTest::qWait(50);
    QCoreApplication::processEvents();
  };
  for (const int width : {1280, 1000, 1920, 1100}) {
    opened.window->resize(width, 800);
    settle();
    INFO("window of " << width << ", bar of " << bar->width());
    CHECK(bar->isTabVisible(bar->currentIndex()));
    const auto count_hidden = [&] {
      int right = 0, hidden = 0;
      for (int i = 0; i < bar->count(); ++i) {
        if (!bar->isTabVisible(i)) {
          ++hidden;
          continue;
        }
        CHECK(bar->tabRect(i).left() >= 0);  // not scrolled
        right = std::max(right, bar->tabRect(i).right());
      }
      CHECK(right <= (more->isVisible() ? more->x() - bar->x() : bar->width()));
      return hidden;
    };
    const int hidden = count_hidden();
    CHECK(more->isVisible() == (hidden > 0));
    if (width == 1000) CHECK(hidden > 0);
    if (hidden == 0) continue;
    int last = bar->count() - 1;
    while (bar->isTabVisible(last)) --last;
    emit more->menu()->aboutToShow();
    REQUIRE(more->menu()->actions().size() == hidden);
    more->menu()->actions().last()->trigger();
    settle();
    CHECK(bar->currentIndex() == last);
    CHECK(bar->isTabVisible(last));
    // And it is computed again with the last one chosen, as when titles change.
    TabOverflow::of(*bar)->fit();
    CHECK(count_hidden() > 0);
    TabOverflow::of(*bar)->fit();
    CHECK(count_hidden() > 0);
  }
}
