// SPDX-License-Identifier: GPL-3.0-or-later
// A drawn guess: with the pointer, and with keys only.

#include <QTest>

#include "app/lesson/drawn_guess.hpp"
#include "app/views/common/style.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

TEST_CASE("Keys draw bars one by one") {
  application();
  Sketch sketch(palette_of(Theme::light), 4, 10, "MiB", "rank");
  QTest::keyClick(&sketch, Qt::Key_Up, Qt::ShiftModifier);
  QTest::keyClick(&sketch, Qt::Key_Right);
  QTest::keyClick(&sketch, Qt::Key_Right);
  for (int i = 0; i < 3; ++i) QTest::keyClick(&sketch, Qt::Key_Up, Qt::ShiftModifier);
  QTest::keyClick(&sketch, Qt::Key_Down);
  CHECK(sketch.values() == std::vector<double>{1, 0, 3 - 0.2, 0});
  sketch.set_kept(true);
  QTest::keyClick(&sketch, Qt::Key_Up);
  CHECK(sketch.values()[2] == 3 - 0.2);
}

TEST_CASE("Keys draw a curve of many points in about thirty steps, with lines between them") {
  application();
  Sketch sketch(palette_of(Theme::light), 800, 5, "nats", "step");
  const auto up = [&](int times) {
    for (int i = 0; i < times; ++i) QTest::keyClick(&sketch, Qt::Key_Up, Qt::ShiftModifier);
  };
  up(8);  // 4 at step 0
  QTest::keyClick(&sketch, Qt::Key_Right);
  up(4);  // 2 at step 25
  CHECK(sketch.values()[0] == Approx(4));
  CHECK(sketch.values()[25] == Approx(2));
  CHECK(sketch.values()[10] == Approx(3.2));
  CHECK(sketch.values()[50] == 0);
  for (int i = 0; i < 40; ++i) QTest::keyClick(&sketch, Qt::Key_Right);
  up(2);
  CHECK(sketch.values()[799] == Approx(1));
  CHECK(sketch.values()[774] == 0);
  CHECK(sketch.values()[787] > 0.4);
  CHECK(sketch.values()[787] < 0.6);
}

TEST_CASE("A fast drag of the pointer sets every point that it passes") {
  application();
  Sketch sketch(palette_of(Theme::light), 800, 5, "nats", "step");
  sketch.resize(260, 132);
  sketch.show();
  QTest::mousePress(&sketch, Qt::LeftButton, {}, sketch.at(0, 4).toPoint());
  QTest::mouseMove(&sketch, sketch.at(799, 1).toPoint());
  QTest::mouseRelease(&sketch, Qt::LeftButton, {}, sketch.at(799, 1).toPoint());
  int near = 0;
  for (std::size_t i = 0; i < 800; ++i)
    near += std::abs(sketch.values()[i] - (4 - 3 * static_cast<double>(i) / 799)) < 0.2;
  CHECK(near == 800);
}
