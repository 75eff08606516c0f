// SPDX-License-Identifier: GPL-3.0-or-later
// A window as a person has it: what it says, and its keys and buttons.
#pragma once
#include <QAbstractButton>
#include <QFile>
#include <QLabel>
#include <QTemporaryDir>
#include <QTest>

#include "app/shell/main_window.hpp"
#include "app/views/common/style.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/catch.hpp"

namespace rankscope::app {

/// Made and shown; nothing is open in it.
inline std::unique_ptr<MainWindow> empty_window(SessionOptions options = {}, bool remember = false) {
  application().setFont(interface_font());  // as the program does
  auto window = std::make_unique<MainWindow>(std::move(options), Theme::dark, remember);
  window->resize(1366, 720);
  window->show();
  window->activateWindow();
  return window;
}

inline bool is_ready(MainWindow& window) {
  return wait_until([&] { return window.session().state() == SessionState::ready && window.settled(); });
}

inline std::unique_ptr<MainWindow> window_on_lab(const QString& source, SessionOptions options = {}) {
  auto window = empty_window(std::move(options));
  window->open(source);
  REQUIRE(is_ready(*window));
  return window;
}

/// The visible button of that name; null for none.
inline QAbstractButton* button_named(QWidget& parent, const QString& text) {
  for (auto* button : parent.findChildren<QAbstractButton*>())
    if (button->text() == text && button->isVisible()) return button;
  return nullptr;
}

/// All that visible labels say.
inline QString words_in(QWidget& parent) {
  QStringList all;
  for (const auto* label : parent.findChildren<QLabel*>())
    if (label->isVisible()) all << label->text();
  return all.join(QLatin1Char('\n'));
}

inline QString write_file(const QTemporaryDir& folder, const char* name, const QByteArray& bytes) {
  QFile file(folder.filePath(name));
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write(bytes);
  file.close();
  return file.fileName();
}

/// Two stages on this machine, so small that steps take milliseconds.
inline QByteArray small_plan(int steps) {
  return "title = \"a small pipeline\"\n[model]\nlayers = 4\nwidth = 32\nheads = 2\ncontext = 16\nvocabulary = 64\n"
         "[plan]\npipeline = 2\nmicro_batches = 4\n[train]\nglobal_batch = 16\nsteps = " +
         QByteArray::number(steps) + "\n";
}

inline SessionOptions real_engine() {
  SessionOptions options;
  options.engine = QStringLiteral(RANKSCOPE_ENGINE);
  options.start_limit_ms = 60000;
  return options;
}

}  // namespace rankscope::app
