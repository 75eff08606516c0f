// SPDX-License-Identifier: GPL-3.0-or-later
// The marks of the open recording, or of the recorded run that has ended. Changes apply immediately here, and are
// saved in the recording on another thread, one after another; a change that cannot be saved
// is reverted.
#pragma once
#include <QObject>
#include <QThreadPool>
#include <memory>
#include <vector>

#include "app/session/session.hpp"
#include "telemetry/trace/marks.hpp"

namespace rankscope::app {

/// The marks of one recording, for restore().
struct MarkPage {
  QString recording;
  std::vector<TraceMark> marks;
  bool operator==(const MarkPage&) const = default;
};

class MarkBook : public QObject {
  Q_OBJECT
 public:
  explicit MarkBook(const Session& session, QObject* parent = nullptr);
  /// Waits until everything is saved.
  ~MarkBook() override;

  /// In time order.
  const std::vector<TraceMark>& marks() const { return page_.marks; }
  const MarkPage& page() const { return page_; }
  /// Whether there is a recording in which marks can be saved; if not, why() has the reason.
  bool can_mark() const { return !page_.recording.isEmpty() && !reading_; }
  QString why_not() const;
  void set(std::vector<TraceMark> marks);
  /// Restores marks; does nothing if another recording is open now.
  void restore(const MarkPage& page);
  /// False while something is read or saved.
  bool settled() const { return under_way_ == 0; }

 signals:
  void changed();   ///< marks(), or whether marks are possible
  void replaced();  ///< from a recording's content, not by a change of the user
  void not_saved(const QString& why);

 private:
  /// The recording's content: used on the worker's thread only.
  using OnDisk = std::shared_ptr<std::vector<TraceMark>>;
  struct Outcome {
    OnDisk on_disk;
    std::vector<TraceMark> marks;  ///< of the recording, afterwards
    QString why;                   ///< why it could not be saved; empty: it was saved
  };
  void check_session();  ///< checks which recording the session has
  void save();
  void take(const Outcome& outcome, bool read);
  template <class Work>
  void start(Work work, bool read);

  const Session& session_;
  MarkPage page_;
  OnDisk on_disk_;
  bool reading_ = false;
  int under_way_ = 0;
  QThreadPool worker_;  ///< one thread, so that changes are saved in their order
};

}  // namespace rankscope::app
