// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/mark_book.hpp"

#include <QFileInfo>
#include <algorithm>

#include "telemetry/trace/trace_reader.hpp"

namespace rankscope::app {
namespace {

/// The file of the open recording, once it is complete; empty if there is none.
QString recording_of(const Session& session) {
  const SessionState state = session.state();
  if (state != SessionState::ended && state != SessionState::failed) return {};
  const QString recording = session.recording();
  return QFileInfo(recording).isFile() ? recording : QString();
}

}  // namespace

MarkBook::MarkBook(const Session& session, QObject* parent) : QObject(parent), session_(session) {
  worker_.setMaxThreadCount(1);
  connect(&session, &Session::state_changed, this, &MarkBook::check_session);
  connect(&session, &Session::left, this, &MarkBook::check_session);
}

MarkBook::~MarkBook() { worker_.waitForDone(); }

template <class Work>
void MarkBook::start(Work work, bool read) {
  ++under_way_;
  worker_.start([this, work = std::move(work), read] {
    QMetaObject::invokeMethod(
        this,
        [this, outcome = work(), read] {
          --under_way_;
          take(outcome, read);
        },
        Qt::QueuedConnection);
  });
}

void MarkBook::check_session() {
  const QString recording = recording_of(session_);
  if (recording == page_.recording) return;
  page_ = {recording, {}};
  on_disk_ = std::make_shared<std::vector<TraceMark>>();
  reading_ = !recording.isEmpty();
  if (reading_)
    start(
        [on_disk = on_disk_, path = recording.toStdString()]() -> Outcome {
          try {
            *on_disk = read_trace_info(path).marks;
          } catch (const std::exception&) {
            // The error was reported when it was opened.
          }
          return {on_disk, *on_disk, {}};
        },
        true);
  emit replaced();
  emit changed();
}

void MarkBook::take(const Outcome& outcome, bool read) {
  if (!outcome.why.isEmpty()) emit not_saved(outcome.why);
  if (outcome.on_disk != on_disk_ || (!read && outcome.why.isEmpty())) return;
  if (read) reading_ = false;
  page_.marks = outcome.marks;
  emit replaced();
  emit changed();
}

QString MarkBook::why_not() const {
  if (can_mark()) return {};
  if (reading_) return tr("The marks of this recording are still being read.");
  switch (session_.state()) {
    case SessionState::starting:
    case SessionState::running:
    case SessionState::stopping: return tr("Marks are saved in the recording: wait until the run has ended.");
    case SessionState::opening: return tr("Marks are saved in the recording: wait until it is read.");
    default: break;
  }
  return session_.recording().isEmpty()
             ? tr("Marks are saved in a recording, but this run is not recorded.")
             : tr("Marks are saved in the recording, but the file no longer exists: %1").arg(session_.recording());
}

void MarkBook::set(std::vector<TraceMark> marks) {
  if (!can_mark() || marks == page_.marks) return;
  std::stable_sort(marks.begin(), marks.end(),
                   [](const TraceMark& a, const TraceMark& b) { return a.time.begin_ns < b.time.begin_ns; });
  page_.marks = std::move(marks);
  save();
  emit changed();
}

void MarkBook::restore(const MarkPage& page) {
  if (page.recording == page_.recording) set(page.marks);
}

void MarkBook::save() {
  start(
      [on_disk = on_disk_, path = page_.recording.toStdString(), marks = page_.marks]() -> Outcome {
        QString why;
        try {
          save_marks(path, *on_disk, marks);
          *on_disk = marks;
        } catch (const std::exception& error) {
          why = QString::fromUtf8(error.what());
        }
        return {on_disk, *on_disk, why};
      },
      false);
}

}  // namespace rankscope::app
