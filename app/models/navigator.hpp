// SPDX-License-Identifier: GPL-3.0-or-later
// Moves the shared state through the data: follows a live run step by step, shows a step, fits the selection,
// switches to another plan, plays in slow motion. Called by the keys and the tool bar.
#pragma once
#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <string>

#include "app/models/shared_state.hpp"
#include "app/models/snapshot_source.hpp"

namespace rankscope {

class Navigator : public QObject {
  Q_OBJECT
 public:
  Navigator(SharedState& state, SnapshotSource& source, QObject* parent = nullptr);

  /// Shows that step and holds it. A range within the old step keeps its position in the new one, so that steps can be
  /// compared by switching between them; otherwise the new step is fitted.
  void show_step(std::uint32_t step);
  /// The `by`-th step after (before) the current one, limited to the existing steps.
  void step_by(int by);
  static constexpr double step_margin = 0.01;  ///< on each side of a fitted step, as a share of its length
  void fit_step();  ///< the current step
  /// True if the visible range is the one that fit_step() set.
  bool shows_fitted_step() const { return !fitted_.empty() && state_.visible() == fitted_; }
  void fit_all();   ///< everything
  void fit();       ///< the selected range, else the selected op with a margin, else the step
  void zoom(double factor, std::int64_t at_ns);
  void pan(double share_of_visible);
  void selection_to_range();  ///< the selected op's time becomes the selected range
  void toggle_playing();

 private:
  void take_in();  ///< reads a new snapshot
  /// The step of another plan has arrived: the same part of it is shown as of the old plan's step.
  void take_plan(const StoreView& view);
  void follow_step();
  void play_on();

  SharedState& state_;
  SnapshotSource& source_;
  QTimer timer_;
  QElapsedTimer since_;
  double rest_ns_ = 0;                              ///< of slow motion: fraction of a nanosecond left by the last tick
  std::string scenario_;                            ///< whose step is shown
  TimeRange step_range_;                            ///< of that step
  TimeRange fitted_;                                ///< the range that fit_step() showed
  std::shared_ptr<const StoreView> fitted_beside_;  ///< and the prediction at that time
  bool moving_ = false;
};

}  // namespace rankscope
