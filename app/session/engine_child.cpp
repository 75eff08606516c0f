// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/engine_child.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>
#include <csignal>

namespace rankscope::app {
namespace {

constexpr int kept_error_lines = 20;

/// Runs in the forked child before exec: async-signal-safe calls only.
void become_engine(pid_t window) {
  setpgid(0, 0);
  setpriority(PRIO_PROCESS, 0, 10);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != window) _exit(127);  // the window died between fork and prctl
}

}  // namespace

QString find_engine() {
  const QString name = QStringLiteral("rankscope-engine");
  const QFileInfo beside(QDir(QCoreApplication::applicationDirPath()).filePath(name));
  if (beside.isExecutable() && beside.isFile()) return beside.absoluteFilePath();
  return QStandardPaths::findExecutable(name);
}

EngineChild::EngineChild(EngineCommand command, int grace_ms, QObject* parent)
    : QObject(parent), command_(std::move(command)), grace_ms_(grace_ms) {
  process_.setProgram(command_.program);
  process_.setArguments(command_.arguments);
  process_.setProcessChannelMode(QProcess::SeparateChannels);
  process_.setStandardInputFile(QProcess::nullDevice());
  process_.setChildProcessModifier([window = getpid()] { become_engine(window); });
  connect(&process_, &QProcess::readyReadStandardOutput, this,
          [this] { drain(QProcess::StandardOutput, output_rest_, false, false); });
  connect(&process_, &QProcess::readyReadStandardError, this,
          [this] { drain(QProcess::StandardError, error_rest_, true, false); });
  connect(&process_, &QProcess::finished, this, &EngineChild::on_finished);
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart)
      emit ended(false, -1, tr("The engine %1 could not be started: %2").arg(command_.program, process_.errorString()));
  });
  kill_timer_.setSingleShot(true);
  connect(&kill_timer_, &QTimer::timeout, this, [this] { signal_group(SIGKILL); });
}

EngineChild::~EngineChild() {
  disconnect(&process_, nullptr, this, nullptr);
  if (process_.state() == QProcess::NotRunning) return;
  signal_group(SIGKILL);
  process_.waitForFinished(500);
}

void EngineChild::start() {
  if (command_.program.isEmpty())
    return emit ended(false, -1, tr("rankscope-engine is neither in the folder of this program nor on PATH."));
  process_.start();
  pid_ = process_.processId();
}

void EngineChild::stop() {
  if (!running() || stopping_) return;
  stopping_ = true;
  signal_group(SIGTERM);
  kill_timer_.start(grace_ms_);
}

bool EngineChild::running() const { return process_.state() != QProcess::NotRunning; }

void EngineChild::signal_group(int signal) const {
  if (pid_ <= 0) return;
  const bool group_exists = killpg(static_cast<pid_t>(pid_), signal) == 0;
  // Between fork and setpgid there is no group yet. After the child is reaped, its number may be reused.
  if (!group_exists && running()) kill(static_cast<pid_t>(pid_), signal);
}

void EngineChild::drain(QProcess::ProcessChannel channel, QByteArray& rest, bool error, bool last) {
  process_.setReadChannel(channel);
  rest += process_.readAll();
  qsizetype begin = 0;
  for (;;) {
    qsizetype end = rest.indexOf('\n', begin);
    if (end < 0) {
      if (!last || begin >= rest.size()) break;
      end = rest.size();
    }
    QString text = QString::fromUtf8(rest.mid(begin, end - begin));  // with the spaces before a table's columns
    begin = end + 1;
    while (!text.isEmpty() && text.back().isSpace()) text.chop(1);
    if (text.trimmed().isEmpty()) continue;
    if (error) {
      last_errors_.append(text);
      while (last_errors_.size() > kept_error_lines) last_errors_.removeFirst();
    }
    emit line(text, error);
  }
  rest.remove(0, std::min(begin, rest.size()));
}

void EngineChild::on_finished(int code, QProcess::ExitStatus status) {
  kill_timer_.stop();
  drain(QProcess::StandardOutput, output_rest_, false, true);
  drain(QProcess::StandardError, error_rest_, true, true);
  signal_group(SIGKILL);  // remaining processes that it started
  const bool crashed = status == QProcess::CrashExit;
  if (!crashed && code == 0) return emit ended(true, 0, {});
  if (stopping_) return emit ended(true, crashed ? -1 : code, {});
  const QString error_text = last_errors_.isEmpty() ? QString() : QStringLiteral(": ") + last_errors_.last();
  const QString reason = crashed     ? tr("A signal ended the engine%1").arg(error_text)
                         : code == 2 ? tr("The engine refused the scenario%1").arg(error_text)
                                     : tr("The run failed (exit status %1)%2").arg(code).arg(error_text);
  emit ended(false, crashed ? -1 : code, reason);
}

}  // namespace rankscope::app
