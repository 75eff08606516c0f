// SPDX-License-Identifier: GPL-3.0-or-later
// Undo for what one looks at: the step, the visible range, the chosen op and range, the plan's edits and the window's
// layout. What follows quickly on each other (a drag, turning a wheel) is one step back. What a run does by itself,
// when one follows it, is nothing to undo.
#pragma once
#include <QByteArray>
#include <QObject>
#include <QTimer>
#include <functional>
#include <optional>
#include <vector>

#include "app/models/shared_state.hpp"
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

  bool can_undo() const { return !past_.empty() || pending(); }
  bool can_redo() const { return !future_.empty(); }
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
    bool same_as(const Look& other) const;
  };
  Look look_now() const;
  void restore(const Look& look);
  void note();
  void settle();  ///< what has changed becomes a place
  void forget();

  SharedState& state_;
  Session& session_;
  Layout layout_;
  QTimer timer_;
  std::vector<Look> past_, future_;
  Look now_;
  QByteArray arranged_;  ///< as of the last change by hand: what the layout says of tabs and sizes is no step
  QString source_;       ///< what is open: another one begins anew
  bool restoring_ = false;
};

}  // namespace rankscope::app
