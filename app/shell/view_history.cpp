// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/view_history.hpp"

#include <set>
#include <utility>

#include "app/views/common/parts.hpp"

namespace rankscope::app {
namespace {

constexpr std::size_t most_places = 200;
constexpr std::size_t most_runs = 8;  ///< saved with states; an older state restores only the plan

bool same_plan(const std::optional<Scenario>& a, const std::optional<Scenario>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->plan == b->plan && a->train == b->train;
}

/// The marks of another recording are not a change by the user.
bool same_marks(const MarkPage& a, const MarkPage& b) { return a.recording != b.recording || a.marks == b.marks; }

}  // namespace

bool ViewHistory::State::same_as(const State& other) const {
  return visible == other.visible && range == other.range && selected == other.selected && step == other.step &&
         layout == other.layout && same_plan(scenario, other.scenario) && same_marks(marks, other.marks);
}

ViewHistory::ViewHistory(SharedState& state, Session& session, Layout layout, int pause_ms, QObject* parent)
    : QObject(parent), state_(state), session_(session), layout_(std::move(layout)) {
  set_up_pause(timer_, pause_ms, this, [this] {
    if (session_.predicting()) return timer_.start();  // the new plan's effect on the zoom is part of the same change
    settle();
  });
  for (const auto signal : {&SharedState::visible_changed, &SharedState::selected_changed,
                            &SharedState::selected_range_changed, &SharedState::step_changed})
    connect(&state, signal, this, &ViewHistory::note);
  connect(&session, &Session::scenario_changed, this, &ViewHistory::note);
  connect(&session, &Session::plan_leaving, this, &ViewHistory::leave_plan);
  connect(&session, &Session::state_changed, this, &ViewHistory::changed);
  if (layout_.save) arranged_ = layout_.save();
  now_ = current_state();
}

ViewHistory::State ViewHistory::current_state() const {
  return {state_.visible(),
          state_.selected_range(),
          state_.selected(),
          state_.step(),
          session_.scenario(),
          arranged_,
          marks_ ? marks_->page() : MarkPage{},
          state_.shown(),
          state_.follow(),
          {}};
}

void ViewHistory::keep_marks(MarkBook& book) {
  marks_ = &book;
  connect(&book, &MarkBook::changed, this, &ViewHistory::note);
  connect(&book, &MarkBook::replaced, this, [this] { now_.marks = marks_->page(); });
  now_.marks = book.page();
}

bool ViewHistory::can_go(const std::vector<State>& places) const {
  if (places.empty()) return false;
  return !session_.active() || same_plan(places.back().scenario, session_.scenario());
}

bool ViewHistory::can_undo() const {
  return can_go(past_) || (pending() && (!session_.active() || same_plan(now_.scenario, session_.scenario())));
}

bool ViewHistory::can_redo() const { return can_go(future_); }

QString ViewHistory::undo_words() const {
  if (!can_undo()) return {};
  const State now = current_state();
  const State& before = pending() && !now.same_as(now_) ? now_ : past_.empty() ? now_ : past_.back();
  if (!same_plan(before.scenario, now.scenario)) return tr("plan");
  if (before.layout != now.layout) return tr("layout");
  if (!same_marks(before.marks, now.marks)) return tr("mark");
  if (!(before.selected == now.selected)) return tr("selection");
  if (!(before.range == now.range)) return tr("range");
  if (before.step != now.step) return tr("step");
  return before.visible == now.visible ? QString() : tr("zoom");
}

void ViewHistory::note_layout() {
  if (restoring_ || !layout_.save) return;
  arranged_ = layout_.save();
  note();
}

void ViewHistory::note() {
  if (restoring_) return;
  if (const QString source = session_.spec().text; source != source_) {
    source_ = source;
    forget();
  }
  timer_.start();
  emit changed();
}

// Zoom and selection before the change are a separate state, which also has the old plan and its run. Changes in
// quick succession make one state, that of the first old plan.
void ViewHistory::leave_plan() {
  if (restoring_ || (pending() && !same_plan(now_.scenario, session_.scenario()))) return;
  if (pending()) settle();
  now_.content = session_.content();
}

void ViewHistory::forget() {
  past_.clear();
  future_.clear();
  now_ = current_state();
}

void ViewHistory::settle() {
  timer_.stop();
  const State next = current_state();
  if (next.same_as(now_)) return emit changed();
  // A followed run, or a playing picture, changes the range by itself.
  const bool own = state_.follow() == Follow::held && !state_.playing();
  const bool other_things =
      !same_plan(next.scenario, now_.scenario) || next.layout != now_.layout || !same_marks(next.marks, now_.marks);
  if (own || other_things || !(next.selected == now_.selected) || !(next.range == now_.range)) {
    past_.push_back(std::move(now_));
    if (past_.size() > most_places) past_.erase(past_.begin());
    release_old_runs();
    future_.clear();
  }
  now_ = next;
  emit changed();
}

// Runs are large: only the latest states keep theirs.
void ViewHistory::release_old_runs() {
  std::set<const void*> runs;
  for (auto place = past_.rbegin(); place != past_.rend(); ++place) {
    if (!place->content.store) continue;
    if (runs.size() < most_runs) runs.insert(place->content.store.get());
    if (runs.count(place->content.store.get()) > 0) continue;
    place->content.store.reset();
    place->content.run_view.reset();
    place->content.figures.reset();
    place->content.context.reset();
  }
}

void ViewHistory::undo() {
  settle();
  if (can_undo()) move(past_, future_);
}

void ViewHistory::redo() {
  settle();
  if (can_redo()) move(future_, past_);
}

void ViewHistory::move(std::vector<State>& from, std::vector<State>& to) {
  if (!same_plan(from.back().scenario, now_.scenario)) now_.content = session_.content();
  to.push_back(std::move(now_));
  now_ = std::move(from.back());
  from.pop_back();
  restore(now_);
}

void ViewHistory::restore(const State& state) {
  restoring_ = true;
  if (state.scenario && session_.scenario() && !same_plan(state.scenario, session_.scenario()) &&
      !session_.restore(state.content))
    session_.edit(*state.scenario);
  if (layout_.restore && state.layout != arranged_) layout_.restore(state.layout);
  arranged_ = state.layout;
  if (marks_ != nullptr) marks_->restore(state.marks);
  state_.set_shown(state.shown);
  state_.set_follow(session_.active() ? Follow::held : state.follow);
  state_.set_step(state.step);
  state_.set_visible(state.visible);
  state_.set_selected(state.selected);
  state_.set_selected_range(state.range);
  restoring_ = false;
  emit changed();
}

}  // namespace rankscope::app
