// SPDX-License-Identifier: GPL-3.0-or-later
// The state shared by all views: a time range, a cursor, a selection, a step. A view gets it by constructor, changes
// it through the setters and redraws on the signals; a setter that changes nothing emits nothing. GUI thread only.
#pragma once
#include <QObject>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "app/models/time_window.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope {

/// One execution of an op: what a click selects.
struct SpanRef {
  std::int32_t rank = 0;
  std::uint32_t step = 0;
  OpId op;
  Obtained obtained = Obtained::measured;
  bool operator==(const SpanRef&) const = default;
};

/// How the views follow the data. A step takes milliseconds: live, the last complete step is frozen or played slowly.
enum class Follow : std::uint8_t {
  held,       ///< the step and range that the user selected stay
  last_step,  ///< the last complete step, fitted, as steps arrive
};

class SharedState : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  /// The complete time of the source; `visible` is clamped to it.
  TimeRange extent() const { return extent_; }
  TimeRange visible() const { return visible_; }
  std::optional<std::int64_t> cursor() const { return cursor_; }
  std::optional<SpanRef> selected() const { return selected_; }
  /// A time range selected for its statistics; empty when there is none.
  TimeRange selected_range() const { return selected_range_; }
  /// Which spans are in front (measured on the wall clock, emulated on the device clock, simulated); the prediction
  /// is drawn under them.
  Obtained shown() const { return shown_; }
  std::optional<std::uint32_t> step() const { return step_; }
  Follow follow() const { return follow_; }
  /// Slow motion: seconds of the run per second of the viewer; 0.01 is "1/100 ×".
  double playback_speed() const { return playback_speed_; }
  bool playing() const { return playing_; }

  void set_extent(TimeRange extent) { change(extent_, extent, &SharedState::extent_changed); }
  /// Clamped; a gesture of the user also calls hold().
  void set_visible(TimeRange range) { change(visible_, clamped(range, extent_), &SharedState::visible_changed); }
  void set_cursor(std::optional<std::int64_t> time_ns) { change(cursor_, time_ns, &SharedState::cursor_changed); }
  void set_selected(std::optional<SpanRef> span) { change(selected_, span, &SharedState::selected_changed); }
  void set_selected_range(TimeRange range) {
    change(selected_range_, range.empty() ? TimeRange{} : range, &SharedState::selected_range_changed);
  }
  void set_shown(Obtained obtained) { change(shown_, obtained, &SharedState::shown_changed); }
  void set_step(std::optional<std::uint32_t> step) { change(step_, step, &SharedState::step_changed); }
  void set_follow(Follow follow) { change(follow_, follow, &SharedState::follow_changed); }
  void hold() { set_follow(Follow::held); }
  void set_playback_speed(double speed) {
    change(playback_speed_, std::isfinite(speed) ? std::clamp(speed, 1e-6, 1e3) : 1.0, &SharedState::playback_changed);
  }
  void set_playing(bool playing) { change(playing_, playing, &SharedState::playback_changed); }

 signals:
  void extent_changed();
  void visible_changed();
  void cursor_changed();
  void selected_changed();
  void selected_range_changed();
  void shown_changed();
  void step_changed();
  void follow_changed();
  void playback_changed();  ///< speed, or playing or not

 private:
  template <class T>
  void change(T& now, const T& value, void (SharedState::*changed)()) {
    if (value == now) return;
    now = value;
    emit(this->*changed)();
  }

  TimeRange extent_, visible_, selected_range_;
  std::optional<std::int64_t> cursor_;
  std::optional<SpanRef> selected_;
  Obtained shown_ = Obtained::measured;
  std::optional<std::uint32_t> step_;
  Follow follow_ = Follow::last_step;
  double playback_speed_ = 0.01;
  bool playing_ = false;
};

}  // namespace rankscope
