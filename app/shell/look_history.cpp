// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/look_history.hpp"

#include <set>
#include <utility>

namespace rankscope::app {
namespace {

constexpr std::size_t most_places = 200;
constexpr std::size_t most_runs = 8;  ///< that places hold; of older places the plan comes back alone

bool same_plan(const std::optional<Scenario>& a, const std::optional<Scenario>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->plan == b->plan && a->train == b->train;
}

/// Those of another recording are no change of a person's.
bool same_marks(const MarkPage& a, const MarkPage& b) { return a.recording != b.recording || a.marks == b.marks; }

}  // namespace

bool LookHistory::Look::same_as(const Look& other) const {
  return visible == other.visible && range == other.range && selected == other.selected && step == other.step &&
         layout == other.layout && same_plan(scenario, other.scenario) && same_marks(marks, other.marks);
}

LookHistory::LookHistory(SharedState& state, Session& session, Layout layout, int pause_ms, QObject* parent)
    : QObject(parent), state_(state), session_(session), layout_(std::move(layout)) {
  timer_.setSingleShot(true);
  timer_.setInterval(pause_ms);
  connect(&timer_, &QTimer::timeout, this, [this] {
    if (session_.predicting()) return timer_.start();  // what the new plan does to the zoom is part of the change
    settle();
  });
  for (const auto signal : {&SharedState::visible_changed, &SharedState::selected_changed,
                            &SharedState::selected_range_changed, &SharedState::step_changed})
    connect(&state, signal, this, &LookHistory::note);
  connect(&session, &Session::scenario_changed, this, &LookHistory::note);
  connect(&session, &Session::plan_leaving, this, &LookHistory::leave_plan);
  connect(&session, &Session::state_changed, this, &LookHistory::changed);
  if (layout_.save) arranged_ = layout_.save();
  now_ = look_now();
}

LookHistory::Look LookHistory::look_now() const {
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

void LookHistory::keep_marks(MarkBook& book) {
  marks_ = &book;
  connect(&book, &MarkBook::changed, this, &LookHistory::note);
  connect(&book, &MarkBook::replaced, this, [this] { now_.marks = marks_->page(); });
  now_.marks = book.page();
}

bool LookHistory::can_go(const std::vector<Look>& places) const {
  if (places.empty()) return false;
  return !session_.active() || same_plan(places.back().scenario, session_.scenario());
}

bool LookHistory::can_undo() const {
  return can_go(past_) || (pending() && (!session_.active() || same_plan(now_.scenario, session_.scenario())));
}

bool LookHistory::can_redo() const { return can_go(future_); }

QString LookHistory::undo_words() const {
  if (!can_undo()) return {};
  const Look now = look_now();
  const Look& before = pending() && !now.same_as(now_) ? now_ : past_.empty() ? now_ : past_.back();
  if (!same_plan(before.scenario, now.scenario)) return tr("plan");
  if (before.layout != now.layout) return tr("layout");
  if (!same_marks(before.marks, now.marks)) return tr("mark");
  if (!(before.selected == now.selected)) return tr("selection");
  if (!(before.range == now.range)) return tr("range");
  if (before.step != now.step) return tr("step");
  return before.visible == now.visible ? QString() : tr("zoom");
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

// What was zoomed and chosen before the change is a place of its own, and the run goes with the plan that is left.
// Changes that follow quickly on each other leave one plan, the first.
void LookHistory::leave_plan() {
  if (restoring_ || (pending() && !same_plan(now_.scenario, session_.scenario()))) return;
  if (pending()) settle();
  now_.content = session_.content();
}

void LookHistory::forget() {
  past_.clear();
  future_.clear();
  now_ = look_now();
}

void LookHistory::settle() {
  timer_.stop();
  const Look next = look_now();
  if (next.same_as(now_)) return emit changed();
  // A run that is followed moves by itself; so does a picture that plays.
  const bool own = state_.follow() == Follow::held && !state_.playing();
  const bool other_things =
      !same_plan(next.scenario, now_.scenario) || next.layout != now_.layout || !same_marks(next.marks, now_.marks);
  if (own || other_things || !(next.selected == now_.selected) || !(next.range == now_.range)) {
    past_.push_back(std::move(now_));
    if (past_.size() > most_places) past_.erase(past_.begin());
    let_runs_go();
    future_.clear();
  }
  now_ = next;
  emit changed();
}

// Runs are large: places hold the latest few.
void LookHistory::let_runs_go() {
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

void LookHistory::undo() {
  settle();
  if (can_undo()) go(past_, future_);
}

void LookHistory::redo() {
  settle();
  if (can_redo()) go(future_, past_);
}

void LookHistory::go(std::vector<Look>& from, std::vector<Look>& to) {
  if (!same_plan(from.back().scenario, now_.scenario)) now_.content = session_.content();
  to.push_back(std::move(now_));
  now_ = std::move(from.back());
  from.pop_back();
  restore(now_);
}

void LookHistory::restore(const Look& look) {
  restoring_ = true;
  if (look.scenario && session_.scenario() && !same_plan(look.scenario, session_.scenario()) &&
      !session_.restore(look.content))
    session_.edit(*look.scenario);
  if (layout_.restore && look.layout != arranged_) layout_.restore(look.layout);
  arranged_ = look.layout;
  if (marks_ != nullptr) marks_->restore(look.marks);
  state_.set_shown(look.shown);
  state_.set_follow(session_.active() ? Follow::held : look.follow);
  state_.set_step(look.step);
  state_.set_visible(look.visible);
  state_.set_selected(look.selected);
  state_.set_selected_range(look.range);
  restoring_ = false;
  emit changed();
}

}  // namespace rankscope::app
