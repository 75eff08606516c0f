// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/presentation.hpp"

#include <QAction>
#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QTest>
#include <algorithm>
#include <map>

#include "app/lesson/lab_panel.hpp"
#include "app/shell/command_line.hpp"
#include "app/shell/main_window.hpp"
#include "app/shell/top_bar.hpp"
#include "app/shell/workspace.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/common/style.hpp"
#include "app/views/timeline/timeline_view.hpp"
#include "tests/app/painted_text.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

std::unique_ptr<MainWindow> window_on(const QString& source, Theme theme = Theme::dark) {
  application().setFont(interface_font());  // like the program
  auto window = std::make_unique<MainWindow>(SessionOptions{}, theme, false);
  window->resize(1920, 1080);
  window->show();
  window->open(source);
  REQUIRE(wait_until([&] { return window->session().state() == SessionState::ready && window->settled(); }));
  return window;
}

QStringList data_views() {
  QStringList names = view_names();
  names.removeAll("lab");
  names.removeAll("plan");
  return names;
}

void settle(MainWindow& window) {
  REQUIRE(wait_until([&] { return window.settled(); }));
  QTest::qWait(30);
  REQUIRE(wait_until([&] { return window.settled(); }));
}

/// The colour of most pixels in the text's box: its background.
QColor under(const QImage& image, const QRectF& box) {
  std::map<QRgb, int> counts;
  const QRect area = box.toAlignedRect().intersected(image.rect());
  for (int y = area.top(); y <= area.bottom(); ++y)
    for (int x = area.left(); x <= area.right(); ++x) ++counts[image.pixel(x, y)];
  QRgb most = image.pixel(area.center());
  for (const auto& [colour, count] : counts)
    if (count > counts[most]) most = colour;
  return QColor::fromRgb(most);
}

}  // namespace

TEST_CASE("In a presentation no letter of any view, the lesson or the plan is below 24 pixels") {
  const auto window = window_on("recomputation");
  for (const QString& name : view_names()) {
    window->present(name);
    settle(*window);
    REQUIRE(window->presenting());
    const auto texts = painted_texts(*window);
    INFO(name.toStdString());
    CHECK_FALSE(texts.empty());
    for (const PaintedText& text : texts) {
      INFO(text.words.toStdString());
      CHECK(text.pixels >= 24 - 1e-6);
    }
    window->stop_presenting();
  }
}

TEST_CASE("The pointer and the keys reach a view through its enlargement, and Escape brings the window back") {
  const auto window = window_on("recomputation");
  auto* timeline = static_cast<TimelineView*>(window->view_named("timeline"));
  window->present("timeline");
  settle(*window);
  auto* presentation = window->findChild<Presentation*>();
  REQUIRE(presentation != nullptr);
  const TimeRange seen = window->state().visible();
  const QPoint inside = timeline->mapTo(timeline->window(), timeline->point_of(0, seen.begin_ns + seen.length() / 2));
  const QPoint at(static_cast<int>(inside.x() * Presentation::scale_up()),
                  static_cast<int>(inside.y() * Presentation::scale_up()));
  QTest::mouseMove(presentation->viewport(), at);
  REQUIRE(wait_until([&] { return window->state().cursor().has_value(); }));
  CHECK(static_cast<double>(*window->state().cursor() - seen.begin_ns) ==
        Approx(0.5 * static_cast<double>(seen.length())).epsilon(0.02));
  QTest::keyClick(presentation, Qt::Key_W);
  CHECK(window->state().visible().length() < seen.length());
  window->activateWindow();
  presentation->setFocus();
  REQUIRE(wait_until([&] { return QApplication::focusWidget() == presentation; }));
  QTest::keyClick(presentation, Qt::Key_Escape);
  CHECK_FALSE(window->presenting());
  CHECK(timeline->isVisible());
  CHECK(timeline->window() == window.get());
  CHECK_FALSE(timeline->presents());
}

TEST_CASE("A view that was presented is back in its dock, and a second one can be presented after it") {
  const auto window = window_on("recomputation");
  for (const char* name : {"memory", "lab", "grid"}) {
    window->present(name);
    settle(*window);
    QWidget* view = window->view_named(name);
    CHECK(view->window() != window.get());
    window->stop_presenting();
    CHECK(view->window() == window.get());
    CHECK((name == std::string("lab") || window->workspace().in_front(view)));
    CHECK(view->isVisible());
  }
}

TEST_CASE("A button of a presented page may end the presentation") {
  const auto window = window_on("recomputation");
  window->present("lab");
  settle(*window);
  const auto* presentation = window->findChild<Presentation*>();
  const auto buttons = window->view_named("lab")->findChildren<QPushButton*>();
  const auto button = std::find_if(buttons.begin(), buttons.end(), [](const QPushButton* one) {
    return one->isVisible() && !one->visibleRegion().isEmpty();
  });
  REQUIRE(button != buttons.end());
  QObject::connect(*button, &QPushButton::clicked, window.get(), [&] { window->stop_presenting(); });
  const QPoint inside = (*button)->mapTo((*button)->window(), (*button)->rect().center());
  QTest::mouseClick(presentation->viewport(), Qt::LeftButton, {},
                    QPoint(static_cast<int>(inside.x() * Presentation::scale_up()),
                           static_cast<int>(inside.y() * Presentation::scale_up())));
  CHECK_FALSE(window->presenting());
  settle(*window);
  CHECK(window->view_named("lab")->window() == window.get());
}

TEST_CASE("The keys of a page scroll a presented lesson, and the time line behind it does not move") {
  const auto window = window_on("recomputation");
  window->present("lab");
  settle(*window);
  auto* presentation = window->findChild<Presentation*>();
  auto* lab = static_cast<LabPanel*>(window->view_named("lab"));
  const TimeRange seen = window->state().visible();
  const auto at_after = [&](Qt::Key key) {
    QTest::keyClick(presentation, key);
    return lab->verticalScrollBar()->value();
  };
  CHECK(at_after(Qt::Key_Home) == 0);
  const int one_page = at_after(Qt::Key_PageDown);
  CHECK(one_page > 0);
  CHECK(at_after(Qt::Key_Space) > one_page);
  CHECK(at_after(Qt::Key_PageUp) == one_page);
  CHECK(at_after(Qt::Key_End) == lab->verticalScrollBar()->maximum());
  at_after(Qt::Key_Right);
  at_after(Qt::Key_W);
  CHECK(window->state().visible() == seen);
}

TEST_CASE("F11 presents what was clicked last: the lesson or a view") {
  const auto window = window_on("recomputation");
  QWidget* lab = window->view_named("lab");
  QWidget* grid = window->view_named("grid");
  const auto presented = [&](QWidget* clicked) {
    QTest::mouseClick(clicked, Qt::LeftButton, {}, QPoint(5, 5));
    QTest::keyClick(window.get(), Qt::Key_F11);
    REQUIRE(window->presenting());
    const std::pair away{lab->window() != window.get(), grid->window() != window.get()};
    window->stop_presenting();
    return away;
  };
  CHECK(presented(lab) == std::pair{true, false});
  CHECK(presented(grid) == std::pair{false, true});
  CHECK(presented(lab->findChild<QLabel*>()) == std::pair{true, false});
  // A view that is opened by its command was used last, too.
  const auto actions = window->findChildren<QAction*>();
  const auto shows_grid = std::find_if(actions.begin(), actions.end(), [&](const QAction* action) {
    return action->text() == "Show " + window->workspace().title_of(grid);
  });
  REQUIRE(shows_grid != actions.end());
  (*shows_grid)->trigger();
  QTest::keyClick(window.get(), Qt::Key_F11);
  CHECK(grid->window() != window.get());
  window->stop_presenting();
}

TEST_CASE("A presented view says how what it shows was obtained: as the open run was, or in its own words") {
  const auto window = window_on("recomputation");
  const QString run = window->findChild<TopBar*>()->source_text();
  REQUIRE_FALSE(run.isEmpty());
  const auto says = [&](const QString& words) {
    const auto texts = painted_texts(*window);
    return std::any_of(texts.begin(), texts.end(), [&](const PaintedText& text) { return text.words.contains(words); });
  };
  window->present("memory");
  settle(*window);
  CHECK(says(run));
  window->present("validation");
  settle(*window);
  CHECK(says("SIMULATED, with published figures"));
  CHECK_FALSE(says(run));
}

TEST_CASE("Every text of every view has a contrast of 4.5 to its background, in every theme") {
  const Theme theme = GENERATE(Theme::dark, Theme::light, Theme::contrast);
  const auto window = window_on("recomputation", theme);
  for (const QString& name : data_views()) {
    QWidget* view = window->view_named(name);
    settle(*window);
    const QImage image = view->grab().toImage();
    for (const PaintedText& text : painted_texts(*view)) {
      INFO(name.toStdString() << ": " << text.words.toStdString() << ", ink " << text.ink.name().toStdString() << " on "
                              << under(image, text.box).name().toStdString());
      CHECK(contrast(text.ink.rgb(), under(image, text.box).rgb()) >= 4.5);
    }
  }
}
