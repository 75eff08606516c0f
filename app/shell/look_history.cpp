// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/look_history.hpp"

#include <utility>

namespace rankscope::app {
namespace {

constexpr std::size_t most_places = 200;

bool same_plan(const std::optional<Scenario>& a, const std::optional<Scenario>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->plan == b->plan && a->train == b->train;
}

}  // namespace

bool LookHistory::Look::same_as(const Look& other) const {
  return visible == other.visible && range == other.range && selected == other.selected && step == other.step &&
         layout == other.layout && same_plan(scenario, other.scenario);
}

LookHistory::LookHistory(SharedState& state, Session& session, Layout layout, int pause_ms, QObject* parent)
    : QObject(parent), state_(state), session_(session), layout_(std::move(layout)) {
  timer_.setSingleShot(true);
  timer_.setInterval(pause_ms);
  connect(&timer_, &QTimer::timeout, this, &LookHistory::settle);
  for (const auto signal : {&SharedState::visible_changed, &SharedState::selected_changed,
                            &SharedState::selected_range_changed, &SharedState::step_changed})
    connect(&state, signal, this, &LookHistory::note);
  connect(&session, &Session::scenario_changed, this, &LookHistory::note);
  if (layout_.save) arranged_ = layout_.save();
  now_ = look_now();
}

LookHistory::Look LookHistory::look_now() const {
  return {state_.visible(), state_.selected_range(), state_.selected(), state_.step(), session_.scenario(), arranged_};
}

void LookHistory::note_layout() {
  if (restoring_ || !layout_.save) return;
  arranged_ = layout_.save();
  note();
}

void LookHistory::note() {
  if (restoring_) return;
  if (const QString source = session_.spec().text; source != source_) {
    source_ = source;
    forget();
  }
  timer_.start();
  emit changed();
}

void LookHistory::forget() {
  past_.clear();
  future_.clear();
  now_ = look_now();
}

void LookHistory::settle() {
  const Look next = look_now();
  if (next.same_as(now_)) return emit changed();
  // A run that is followed moves by itself; so does a picture that plays.
  const bool own = state_.follow() == Follow::held && !state_.playing();
  const bool other_things = !same_plan(next.scenario, now_.scenario) || next.layout != now_.layout;
  if (own || other_things || !(next.selected == now_.selected) || !(next.range == now_.range)) {
    past_.push_back(now_);
    if (past_.size() > most_places) past_.erase(past_.begin());
    future_.clear();
  }
  now_ = next;
  emit changed();
}

void LookHistory::undo() {
  timer_.stop();
  settle();
  if (past_.empty()) return;
  future_.push_back(now_);
  now_ = past_.back();
  past_.pop_back();
  restore(now_);
}

void LookHistory::redo() {
  timer_.stop();
  settle();
  if (future_.empty()) return;
  past_.push_back(now_);
  now_ = future_.back();
  future_.pop_back();
  restore(now_);
}

void LookHistory::restore(const Look& look) {
  restoring_ = true;
  if (look.scenario && session_.scenario() && !same_plan(look.scenario, session_.scenario()))
    session_.edit(*look.scenario);
  if (layout_.restore && look.layout != arranged_) layout_.restore(look.layout);
  arranged_ = look.layout;
  state_.hold();
  state_.set_step(look.step);
  state_.set_visible(look.visible);
  state_.set_selected(look.selected);
  state_.set_selected_range(look.range);
  restoring_ = false;
  emit changed();
}

}  // namespace rankscope::app
