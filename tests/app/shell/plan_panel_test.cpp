// SPDX-License-Identifier: GPL-3.0-or-later
// The plan panel: which fields it shows, how a field changes the plan, and that each change is predicted at once.
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QMouseEvent>
#include <QSlider>
#include <QTest>
#include <QToolButton>

#include "app/shell/main_window.hpp"
#include "app/shell/plan_panel.hpp"
#include "app/shell/workspace.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/app/shell/window.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

TEST_CASE("The plan panel alone is as wide as its fields and numbers") {
  for (const QSize size : {QSize(1280, 800), QSize(1920, 1080)}) {
    const auto window = window_on("optimizers");
    window->resize(size);
    window->show_alone("plan");
    REQUIRE(wait_until([&] { return window->settled(); }));
    PlanPanel& plan = window->plan_panel();
    const int room = plan.viewport()->width();
    INFO(size.width() << ": " << room << " of " << plan.widget()->minimumSizeHint().width());
    CHECK(plan.widget()->width() <= room);
    for (QWidget* child : plan.widget()->findChildren<QWidget*>())
      if (child->isVisible()) CHECK(child->mapTo(plan.widget(), QPoint(child->width(), 0)).x() <= room);
  }
}

TEST_CASE("Every key of the plan can be changed in its field, and fields that do not apply are not there") {
  const auto window = window_on("data-parallel");
  PlanPanel& plan = window->plan_panel();
  for (const char* name : {"data", "tensor", "pipeline", "micro-batches", "schedule", "recompute", "precision",
                           "data parallel", "ZeRO stage", "offload", "collective", "bucket, MiB"}) {
    INFO(name);
    REQUIRE(plan.field_named(name) != nullptr);
    CHECK(plan.field_named(name)->isVisibleTo(plan.widget()));
  }
  for (const char* name :
       {"servers", "staleness", "sequence parallel", "recompute every n-th block", "virtual stages"}) {
    INFO(name);
    REQUIRE(plan.field_named(name) != nullptr);
    CHECK_FALSE(plan.field_named(name)->isVisibleTo(plan.widget()));
  }
  auto* where = plan.field_named("data parallel")->findChild<QComboBox*>();
  REQUIRE(where != nullptr);
  where->setFocus();
  QTest::keyClick(where, Qt::Key_End);
  CHECK(window->session().scenario()->plan.data_parallel == "parameter-server");
  CHECK(plan.field_named("servers")->isVisibleTo(plan.widget()));
  auto* box = qobject_cast<QDoubleSpinBox*>(plan.field_named("bucket, MiB"));
  REQUIRE(box != nullptr);
  box->setFocus();
  box->selectAll();
  QTest::keyClicks(box, "2.5");
  QTest::keyClick(box, Qt::Key_Return);
  CHECK(window->session().scenario()->plan.bucket_mib == 2.5);
}

TEST_CASE("The plan of a collective alone has its own fields, and none that train a model") {
  const auto window = window_on("collectives-eight");
  PlanPanel& plan = window->plan_panel();
  for (const char* name : {"operation", "bytes", "data", "precision", "collective"}) {
    INFO(name);
    REQUIRE(plan.field_named(name) != nullptr);
    CHECK(plan.field_named(name)->isVisibleTo(plan.widget()));
  }
  for (const char* name : {"root", "tensor", "pipeline", "micro-batches", "global batch", "schedule", "recompute",
                           "data parallel", "ZeRO stage", "offload", "bucket, MiB"}) {
    INFO(name);
    REQUIRE(plan.field_named(name) != nullptr);
    CHECK_FALSE(plan.field_named(name)->isVisibleTo(plan.widget()));
  }
  auto* bytes = qobject_cast<QDoubleSpinBox*>(plan.field_named("bytes"));
  REQUIRE(bytes != nullptr);
  CHECK(bytes->value() == 8388608);  // all digits: a field for bytes has values over a million
  Scenario rooted = *window->session().scenario();
  rooted.model.operation = Operation::scatter;
  window->session().edit(rooted);
  CHECK(plan.field_named("root")->isVisibleTo(plan.widget()));
}

TEST_CASE("A plan's numbers are dragged over powers of two, stepped and typed, and each is predicted at once") {
  const auto window = window_on("pipeline-1f1b");
  Arrangement wide;
  wide.plan_width = 420;  // a slider of some length
  window->workspace().set_arrangement(wide);
  auto* field = qobject_cast<Stepper*>(window->plan_panel().field_named("micro-batches"));
  REQUIRE(field != nullptr);
  const auto predicted = [&] {
    REQUIRE(wait_until([&] { return window->settled(); }));
    REQUIRE(window->session().predicted());
    CHECK(window->session().predicted()->scenario.plan.micro_batches == field->value());
    return window->session().predicted()->report.bubble.predicted;
  };
  CHECK(field->value() == 8);
  CHECK(field->stops()[static_cast<std::size_t>(field->slider()->value())] == 8);
  const double at_eight = predicted();
  QSlider* slider = field->slider();
  const int y = slider->height() / 2;
  const auto x_of = [&](int stop) { return 6 + (slider->width() - 12) * stop / slider->maximum(); };
  QTest::mousePress(slider, Qt::LeftButton, {}, {x_of(slider->value()), y});
  QTest::mouseMove(slider, {x_of(slider->value() + 1), y});
  QTest::mouseRelease(slider, Qt::LeftButton, {}, {x_of(slider->value()), y});
  CHECK(field->value() == 16);
  CHECK(predicted() < at_eight);  // (p - 1)/(m + p - 1)
  for (QToolButton* button : field->findChildren<QToolButton*>())
    if (button->text() == QStringLiteral("+")) QTest::mouseClick(button, Qt::LeftButton);
  CHECK(field->value() == 17);  // between two stops it does not change
  CHECK(field->stops()[static_cast<std::size_t>(slider->value())] == 16);
  field->box()->setFocus();
  field->box()->selectAll();
  QTest::keyClicks(field->box(), "4");
  QTest::keyClick(field->box(), Qt::Key_Return);
  CHECK(predicted() > at_eight);
}

TEST_CASE("The layers per stage are words that are checked as the plan is") {
  const auto window = window_on("pipeline-1f1b");
  PlanPanel& plan = window->plan_panel();
  auto* words = qobject_cast<QLineEdit*>(plan.field_named("layers per stage"));
  REQUIRE(words != nullptr);
  CHECK(words->text() == "even");
  words->selectAll();
  QTest::keyClicks(words, "3 2 2 1");
  QTest::keyClick(words, Qt::Key_Return);
  CHECK(window->session().scenario()->plan.stages == "3 2 2 1");
  REQUIRE(wait_until([&] { return window->session().settled(); }));
  CHECK(window->session().refusal().isEmpty());
  words->selectAll();
  QTest::keyClicks(words, "3 2");
  QTest::keyClick(words, Qt::Key_Return);
  REQUIRE(wait_until([&] { return !window->session().refusal().isEmpty(); }));
}
