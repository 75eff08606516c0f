// SPDX-License-Identifier: GPL-3.0-or-later
// One application without a display for all tests of an executable, and waiting with a limit.
#pragma once
#include <QApplication>
#include <QElapsedTimer>
#include <QLocale>
#include <cstdio>
#include <functional>

namespace rankscope::app {

/// Qt's messages, without those of the platform without a display about each window: they would hide a failed check.
inline void print_message(QtMsgType, const QMessageLogContext&, const QString& words) {
  if (!words.startsWith(QLatin1String("This plugin does not support"))) std::fprintf(stderr, "%s\n", qPrintable(words));
}

inline QApplication& application() {
  static int argc = 1;
  static char name[] = "test";
  static char* argv[] = {name, nullptr};
  static const QtMessageHandler before = qInstallMessageHandler(print_message);
  static const bool offscreen = qputenv("QT_QPA_PLATFORM", "offscreen");
  // Never destroyed: at exit Qt's own statics, which its destructor uses, may already be destroyed.
  static QApplication& instance = *new QApplication(argc, argv);
  QLocale::setDefault(QLocale::c());  // like the program (app/views/common/language.cpp), whatever the system's is
  static_cast<void>(offscreen);
  static_cast<void>(before);
  return instance;
}

/// Handles events until `condition` is true; false if it is not within the limit, which only ends what hangs.
inline bool wait_until(const std::function<bool()>& condition, int limit_ms = 180'000) {
  application();
  QElapsedTimer since;
  since.start();
  while (!condition()) {
    if (since.elapsed() > limit_ms) return false;
    QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents, 20);
  }
  return true;
}

}  // namespace rankscope::app
