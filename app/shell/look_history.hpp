// SPDX-License-Identifier: GPL-3.0-or-later
// Undo for the step, the visible range, the selected op and range, the plan's edits, the marks of the
// recording and the window's layout. Changes in quick succession (a drag, turning a wheel) are one undo step.
// Changes made by following a live run cannot be undone.
//
// A place holds all of it, with the plan's run: going back to a plan brings back the run, zoom and selection that it
// had when it was left. While a run is under way no other plan can come back.
#pragma once
#include <QByteArray>
#include <QObject>
#include <QTimer>
#include <functional>
#include <optional>
#include <vector>

#include "app/models/shared_state.hpp"
#include "app/session/mark_book.hpp"
#include "app/session/session.hpp"

namespace rankscope::app {

class LookHistory : public QObject {
  Q_OBJECT
 public:
  /// How the window is arranged, as bytes, and how it gets so again; both may be empty.
  struct Layout {
    std::function<QByteArray()> save;
    std::function<void(const QByteArray&)> restore;
  };
  /// `pause_ms`: so long nothing must change until what is there counts as a place to go back to.
  LookHistory(SharedState& state, Session& session, Layout layout, int pause_ms = 400, QObject* parent = nullptr);
  /// Marks come back as well. The book outlives this.
  void keep_marks(MarkBook& book);

  bool can_undo() const;
  bool can_redo() const;
  /// What undo() would revert: "zoom", "plan"; empty if there is nothing.
  QString undo_words() const;
  /// Whether something has changed that is no place to go back to yet.
  bool pending() const { return timer_.isActive(); }
  void undo();
  void redo();
  /// The layout was changed by hand: a dock was moved, let float, or shown.
  void note_layout();

 signals:
  void changed();

 private:
  struct Look {
    TimeRange visible, range;
    std::optional<SpanRef> selected;
    std::optional<std::uint32_t> step;
    std::optional<Scenario> scenario;
    QByteArray layout;
    MarkPage marks;
    Obtained shown = Obtained::measured;
    Follow follow = Follow::last_step;
    SessionContent content;  ///< as of the moment when the plan was left; empty of a place before which it stayed
    bool same_as(const Look& other) const;
  };
  Look look_now() const;
  void restore(const Look& look);
  void note();
  void settle();      ///< what has changed becomes a place
  void leave_plan();  ///< it is about to change
  bool can_go(const std::vector<Look>& places) const;
  void forget();
  void let_runs_go();
  void go(std::vector<Look>& from, std::vector<Look>& to);

  SharedState& state_;
  Session& session_;
  Layout layout_;
  MarkBook* marks_ = nullptr;
  QTimer timer_;
  std::vector<Look> past_, future_;
  Look now_;
  QByteArray arranged_;  ///< as of the last change by hand: what the layout says of tabs and sizes is no step
  QString source_;       ///< what is open: another one begins anew
  bool restoring_ = false;
};

}  // namespace rankscope::app
