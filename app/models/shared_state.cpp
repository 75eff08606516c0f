// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/shared_state.hpp"

#include <algorithm>
#include <cmath>

namespace rankscope {

SharedState::SharedState(QObject* parent) : QObject(parent) {}

void SharedState::set_extent(TimeRange extent) {
  if (extent == extent_) return;
  extent_ = extent;
  emit extent_changed();
}

void SharedState::set_visible(TimeRange range) {
  range = clamped(range, extent_);
  if (range == visible_) return;
  visible_ = range;
  emit visible_changed();
}

void SharedState::set_cursor(std::optional<std::int64_t> time_ns) {
  if (time_ns == cursor_) return;
  cursor_ = time_ns;
  emit cursor_changed();
}

void SharedState::set_selected(std::optional<SpanRef> span) {
  if (span == selected_) return;
  selected_ = span;
  emit selected_changed();
}

void SharedState::set_selected_range(TimeRange range) {
  if (range.empty()) range = {};
  if (range == selected_range_) return;
  selected_range_ = range;
  emit selected_range_changed();
}

void SharedState::set_shown(Obtained obtained) {
  if (obtained == shown_) return;
  shown_ = obtained;
  emit shown_changed();
}

void SharedState::set_step(std::optional<std::uint32_t> step) {
  if (step == step_) return;
  step_ = step;
  emit step_changed();
}

void SharedState::set_follow(Follow follow) {
  if (follow == follow_) return;
  follow_ = follow;
  emit follow_changed();
}

void SharedState::set_playback_speed(double speed) {
  speed = std::isfinite(speed) ? std::clamp(speed, 1e-6, 1e3) : 1.0;
  if (speed == playback_speed_) return;
  playback_speed_ = speed;
  emit playback_changed();
}

void SharedState::set_playing(bool playing) {
  if (playing == playing_) return;
  playing_ = playing;
  emit playback_changed();
}

}  // namespace rankscope
