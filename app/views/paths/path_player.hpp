// SPDX-License-Identifier: GPL-3.0-or-later
// The player of the paths: back, play, forward, a slider, and the current step.
#pragma once
#include <QElapsedTimer>
#include <QLabel>
#include <QSlider>
#include <QTimer>
#include <QToolButton>
#include <QWidget>

namespace rankscope::app {

class PathPlayer : public QWidget {
  Q_OBJECT
 public:
  explicit PathPlayer(QWidget* parent);
  /// A player at the end moves to the new end.
  void set_steps(int steps);
  int steps() const { return slider_->maximum(); }
  int step() const { return slider_->value(); }
  void set_step(int step) { slider_->setValue(step); }
  /// Pauses, and moves by this number of steps.
  void step_by(int by);
  bool playing() const { return timer_.isActive(); }
  /// From the beginning if it is at the end.
  void set_playing(bool playing);

 signals:
  void step_changed(int step);

 private:
  void tick();
  void show_words();

  QToolButton *back_, *play_, *forward_;
  QSlider* slider_;
  QLabel* words_;
  QTimer timer_;
  QElapsedTimer since_;
  double at_ = 0;  ///< while it plays
};

}  // namespace rankscope::app
