// SPDX-License-Identifier: GPL-3.0-or-later
// Undo for the step, the visible range, the selected op and range, the plan's edits, the marks of the
// recording and the window's layout. Changes in quick succession (a drag, turning a wheel) are one undo step.
// Changes made by following a live run cannot be undone.
//
// A state has all of it, with the plan's run: undo of a plan restores the run, zoom and selection that it had when it
// was left. During a run no other plan can be restored.
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

class ViewHistory : public QObject {
  Q_OBJECT
 public:
  /// Saves the window's arrangement as bytes, and restores it; both may be empty.
  struct Layout {
    std::function<QByteArray()> save;
    std::function<void(const QByteArray&)> restore;
  };
  /// After `pause_ms` without a change the current state becomes a state to which undo() can return.
  ViewHistory(SharedState& state, Session& session, Layout layout, int pause_ms = 400, QObject* parent = nullptr);
  /// Marks are also restored. The book outlives this.
  void keep_marks(MarkBook& book);

  bool can_undo() const;
  bool can_redo() const;
  /// What undo() would revert: "zoom", "plan"; empty if there is nothing.
  QString undo_words() const;
  /// Something has changed since the last saved state.
  bool pending() const { return timer_.isActive(); }
  void undo();
  void redo();
  /// The layout was changed by hand: a dock was moved, detached, or shown.
  void note_layout();

 signals:
  void changed();

 private:
  struct State {
    TimeRange visible, range;
    std::optional<SpanRef> selected;
    std::optional<std::uint32_t> step;
    std::optional<Scenario> scenario;
    QByteArray layout;
    MarkPage marks;
    Obtained shown = Obtained::measured;
    Follow follow = Follow::last_step;
    SessionContent content;  ///< when the plan was left; empty if the next state has the same plan
    bool same_as(const State& other) const;
  };
  State current_state() const;
  void restore(const State& state);
  void note();
  void settle();      ///< saves the current state
  void leave_plan();  ///< before the plan changes
  bool can_go(const std::vector<State>& places) const;
  void forget();
  void release_old_runs();
  void move(std::vector<State>& from, std::vector<State>& to);

  SharedState& state_;
  Session& session_;
  Layout layout_;
  MarkBook* marks_ = nullptr;
  QTimer timer_;
  std::vector<State> past_, future_;
  State now_;
  QByteArray arranged_;  ///< at the last change by hand: changes of tabs and sizes alone are not a step
  QString source_;       ///< the open content: the history starts again when it changes
  bool restoring_ = false;
};

}  // namespace rankscope::app
