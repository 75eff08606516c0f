// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the window, or one view, into a file as soon as all data have arrived.
#pragma once
#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include "app/shell/command_line.hpp"
#include "app/shell/main_window.hpp"

namespace rankscope::app {

class Screenshot : public QObject {
  Q_OBJECT
 public:
  /// `limit_ms`: the time limit for the picture.
  Screenshot(MainWindow& window, const CommandLine& line, int limit_ms = 180000, QObject* parent = nullptr);

 signals:
  /// `status` is the program's exit status; `words` one line for standard error, empty on success.
  void done(int status, const QString& words);

 private:
  void poll();
  bool ready() const;

  MainWindow& window_;
  CommandLine line_;
  int limit_ms_, calm_ = 0;
  bool started_ = false, alone_ = false;
  QTimer timer_;
  QElapsedTimer since_;
};

}  // namespace rankscope::app
