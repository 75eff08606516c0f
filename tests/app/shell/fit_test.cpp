// SPDX-License-Identifier: GPL-3.0-or-later
// Painted texts have space: none is cut at a view's edge, and no two overlap, also in a small window.
#include <QAbstractScrollArea>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include "app/shell/command_line.hpp"
#include "app/shell/main_window.hpp"
#include "app/shell/workspace.hpp"
#include "app/views/common/language.hpp"
#include "app/views/common/style.hpp"
#include "tests/app/painted_text.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

std::unique_ptr<MainWindow> window_on(const QString& source) {
  application().setFont(interface_font());  // like the program
  auto window = std::make_unique<MainWindow>(SessionOptions{}, Theme::light, false);
  window->show();
  window->open(source);
  REQUIRE(wait_until([&] { return window->session().state() == SessionState::ready && window->settled(); }));
  return window;
}

void settle(MainWindow& window) {
  QTest::qWait(30);
  REQUIRE(wait_until([&] { return window.settled(); }));
  QTest::qWait(30);
}

/// Texts of a table's cells, a list or a text page scroll with it: its edge may cut them.
bool scrolls(const QWidget& view, const QRectF& box) {
  const QList<QAbstractScrollArea*> areas = view.findChildren<QAbstractScrollArea*>();
  return std::any_of(areas.begin(), areas.end(), [&](const QAbstractScrollArea* area) {
    constexpr int beyond = 30;  // a row or a column beyond its edge was painted, and is not visible
    const QRect seen(area->mapTo(&view, QPoint()), area->size());
    return area->isVisible() && QRectF(seen.adjusted(-beyond, -beyond, beyond, beyond)).intersects(box);
  });
}

void check_texts(QWidget& view) {
  std::vector<PaintedText> texts;
  for (const PaintedText& text : painted_texts(view))
    if (!scrolls(view, text.box)) texts.push_back(text);
  const QRectF room = QRectF(view.rect()).adjusted(-2, -2, 2, 2);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const QRectF& box = texts[i].box;
    INFO("'" << texts[i].words.toStdString() << "' at " << box.x() << ", " << box.y() << ", " << box.width() << " x "
             << box.height() << " in " << view.width() << " x " << view.height());
    CHECK(room.contains(box));
    for (std::size_t j = 0; j < i; ++j) {
      const QRectF shared = box.intersected(texts[j].box);
      INFO("over '" << texts[j].words.toStdString() << "' at " << texts[j].box.x() << ", " << texts[j].box.y());
      CHECK((shared.width() < 2 || shared.height() < 4));  // letters without ascent may touch
    }
  }
}

}  // namespace

TEST_CASE("No view cuts a text or paints one over another, on a laptop and in the smallest window, in any language") {
  const QString language = GENERATE(from_range(window_languages()));
  INFO("in " << language.toStdString());
  install_language(application(), language);
  const QTemporaryDir folder;
  QFile plain(folder.filePath("plain.toml"));  // no lab: nothing is hidden
  REQUIRE(plain.open(QIODevice::WriteOnly));
  plain.write(
      "title = \"Four stages, two replicas, sharded\"\n[model]\nlayers = 8\nwidth = 64\nheads = 4\ncontext = 32\n"
      "vocabulary = 128\n[plan]\npipeline = 4\ndata = 2\nzero = 1\nmicro_batches = 8\n[train]\nglobal_batch = 32\n");
  plain.close();
  const auto window = window_on(plain.fileName());
  for (const QSize size : {QSize(1366, 749), QSize(1024, 680), QSize(960, 529)}) {
    window->resize(size);
    window->workspace().set_arrangement(default_arrangement(size.width()));
    settle(*window);
    for (const QString& name : view_names()) {
      if (name == "lab" || name == "plan") continue;
      QWidget* view = window->view_named(name);
      settle(*window);
      INFO(name.toStdString() << " in a window of " << size.width() << " x " << size.height());
      REQUIRE(view->isVisible());
      check_texts(*view);
    }
  }
  install_language(application(), QStringLiteral("en"));
}
