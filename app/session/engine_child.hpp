// SPDX-License-Identifier: GPL-3.0-or-later
// The training engine as a child process of the window: started at low priority in its own process group, with its
// output kept. It always ends with the window, even if the window is killed.
#pragma once
#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <QTimer>

namespace rankscope::app {

struct EngineCommand {
  QString program;
  QStringList arguments;
};

/// The path of rankscope-engine: beside this executable, else on PATH. Empty if not found.
QString find_engine();

class EngineChild : public QObject {
  Q_OBJECT
 public:
  /// `grace_ms`: time between stop()'s SIGTERM and SIGKILL, for the engine to finish.
  explicit EngineChild(EngineCommand command, int grace_ms = 5000, QObject* parent = nullptr);
  /// Kills and reaps it if it still runs; blocks at most half a second.
  ~EngineChild() override;

  /// Starts it; if it cannot be started or was not found (empty), `ended` is emitted inside this call.
  void start();
  /// SIGTERM to the group, SIGKILL after the grace time. Returns at once; `ended` follows. No effect if not running.
  void stop();
  bool running() const;
  bool stopping() const { return stopping_; }
  qint64 process_id() const { return pid_; }
  /// The last lines it wrote to standard error, newest last: quoted in failure messages.
  const QStringList& last_errors() const { return last_errors_; }

 signals:
  void line(const QString& text, bool error);
  /// `status` is the exit status, or -1 if a signal ended it; `reason` is one sentence, empty on success.
  void ended(bool ok, int status, const QString& reason);

 private:
  void drain(QProcess::ProcessChannel channel, QByteArray& rest, bool error, bool last);
  void on_finished(int code, QProcess::ExitStatus status);
  void signal_group(int signal) const;

  EngineCommand command_;
  int grace_ms_;
  QProcess process_;
  QTimer kill_timer_;
  QByteArray output_rest_, error_rest_;
  QStringList last_errors_;
  qint64 pid_ = 0;
  bool stopping_ = false;
};

}  // namespace rankscope::app
