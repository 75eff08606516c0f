// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/navigator.hpp"

#include <algorithm>
#include <cmath>

#include "app/models/steps.hpp"

namespace rankscope {
namespace {

constexpr double op_margin = 2.0;

// Selects how the shown events of a session were obtained: as the headline's if it has such events.
std::optional<Obtained> headline(const StoreView& view) {
  const bool device = view.hello() && view.hello()->headline == ClockDomain::device;
  const Obtained order[] = {device ? Obtained::emulated : Obtained::measured,
                            device ? Obtained::measured : Obtained::emulated, Obtained::simulated};
  for (const Obtained obtained : order)
    if (!view.extent(obtained).empty()) return obtained;
  return std::nullopt;
}

}  // namespace

Navigator::Navigator(SharedState& state, SnapshotSource& source, QObject* parent)
    : QObject(parent), state_(state), source_(source) {
  connect(&source_, &SnapshotSource::changed, this, &Navigator::take_in);
  connect(&state_, &SharedState::shown_changed, this, [this] {
    state_.set_extent({});
    state_.set_step({});
    take_in();
  });
  connect(&state_, &SharedState::follow_changed, this, &Navigator::follow_step);
  connect(&state_, &SharedState::step_changed, this, [this] {
    if (state_.step()) step_range_ = source_.view()->step_range(state_.shown(), *state_.step()).value_or(step_range_);
    // Another view selected a step: show it.
    if (!moving_ && state_.step()) {
      const auto range = source_.view()->step_range(state_.shown(), *state_.step());
      if (range && intersection(*range, state_.visible()).empty()) fit_step();
    }
  });
  connect(&state_, &SharedState::playback_changed, this, [this] {
    if (state_.playing() && !timer_.isActive()) {
      since_.start();
      rest_ns_ = 0;
      timer_.start();
    } else if (!state_.playing()) {
      timer_.stop();
    }
  });
  timer_.setInterval(16);
  timer_.setTimerType(Qt::PreciseTimer);
  connect(&timer_, &QTimer::timeout, this, &Navigator::play_on);
  take_in();
}

void Navigator::take_in() {
  const auto view = source_.view();
  if (view->extent(state_.shown()).empty())
    if (const auto better = headline(*view)) state_.set_shown(*better);
  const TimeRange extent = view->extent(state_.shown());
  const bool first = state_.extent().empty() && !extent.empty();
  state_.set_extent(extent);
  follow_step();
  take_plan(*view);
  // The forecast arrived after the step was fitted, and the range was not moved since: it may be longer than the step.
  if (state_.step() && !fitted_.empty() && state_.visible() == fitted_ && source_.prediction() != fitted_beside_)
    fit_step();
  if (first && (state_.visible().empty() || intersection(state_.visible(), extent).empty())) fit_step();
}

void Navigator::take_plan(const StoreView& view) {
  const Hello* hello = view.hello();
  if (hello == nullptr) return;
  const bool another = !scenario_.empty() && hello->scenario_toml != scenario_;
  const TimeRange before = step_range_;
  scenario_ = hello->scenario_toml;
  const auto shown_range = [&] {
    return state_.step() ? view.step_range(state_.shown(), *state_.step()) : std::nullopt;
  };
  auto range = shown_range();
  if (another && !range) {
    // It has fewer steps.
    moving_ = true;
    state_.set_step(last_whole_step(view, state_.shown()));
    moving_ = false;
    range = shown_range();
  }
  if (range) step_range_ = *range;
  if (!another || !range || range->empty()) return;
  if (const auto selected = state_.selected();
      selected && !view.find(selected->rank, selected->step, selected->op, selected->obtained))
    state_.set_selected({});
  const TimeRange visible = state_.visible(), chosen = state_.selected_range();
  const bool part = state_.follow() == Follow::held && visible != fitted_ && !before.empty() &&
                    !intersection(visible, before).empty();
  if (!part) fit_step();
  const double pace = before.empty() ? 1 : static_cast<double>(range->length()) / static_cast<double>(before.length());
  const auto same_part = [&](TimeRange of) {
    const auto moved_to = [&](std::int64_t ns) {
      return range->begin_ns + std::llround(static_cast<double>(ns - before.begin_ns) * pace);
    };
    return TimeRange{moved_to(of.begin_ns), moved_to(of.end_ns)};
  };
  if (part) state_.set_visible(same_part(visible));
  if (!chosen.empty()) state_.set_selected_range(before.empty() ? TimeRange{} : same_part(chosen));
}

void Navigator::follow_step() {
  if (state_.follow() != Follow::last_step) return;
  // A step stays while it is played; the next one follows at its end.
  if (state_.playing() && state_.step()) return;
  const auto last = last_whole_step(*source_.view(), state_.shown());
  if (!last || (state_.step() == last && !state_.visible().empty())) return;
  moving_ = true;
  state_.set_step(last);
  moving_ = false;
  fit_step();
}

void Navigator::show_step(std::uint32_t step) {
  const auto view = source_.view();
  const auto range = view->step_range(state_.shown(), step);
  if (!range) return;
  state_.hold();
  std::optional<TimeRange> before;
  if (state_.step()) before = view->step_range(state_.shown(), *state_.step());
  const TimeRange visible = state_.visible();
  moving_ = true;
  state_.set_step(step);
  moving_ = false;
  if (before && visible.begin_ns >= before->begin_ns && visible.end_ns <= before->end_ns)
    state_.set_visible(moved(visible, range->begin_ns - before->begin_ns));
  else
    fit_step();
}

void Navigator::step_by(int by) {
  const auto steps = source_.view()->steps(state_.shown());
  if (steps.empty()) return;
  const std::uint32_t now = state_.step().value_or(steps.front());
  auto at = std::lower_bound(steps.begin(), steps.end(), now) - steps.begin();
  at = std::clamp<std::ptrdiff_t>(at + by, 0, std::ssize(steps) - 1);
  show_step(steps[static_cast<std::size_t>(at)]);
}

void Navigator::fit_step() {
  const auto view = source_.view();
  if (!state_.step()) {
    const auto steps = view->steps(state_.shown());
    const auto whole = last_whole_step(*view, state_.shown());
    if (steps.empty()) return fit_all();
    moving_ = true;
    state_.set_step(whole ? whole : steps.back());
    moving_ = false;
  }
  const auto prediction = source_.prediction();
  const auto range = step_with_forecast(*view, prediction ? *prediction : *view, state_.shown(), *state_.step());
  if (!range || range->empty()) return;
  // Set before the range changes: slots of visible_changed() call shows_fitted_step().
  fitted_ = clamped(widened(*range, step_margin), state_.extent());
  fitted_beside_ = prediction;
  state_.set_visible(fitted_);
}

void Navigator::fit_all() {
  if (!state_.extent().empty()) state_.set_visible(widened(state_.extent(), step_margin));
}

void Navigator::fit() {
  state_.hold();
  if (!state_.selected_range().empty()) return state_.set_visible(widened(state_.selected_range(), 0.05));
  if (const auto selected = state_.selected()) {
    const auto span = source_.view()->find(selected->rank, selected->step, selected->op, selected->obtained);
    if (span) {
      const TimeRange requested = clamped(widened({span->begin_ns, span->end_ns}, op_margin), state_.extent());
      // Fitting twice returns to the step.
      if (requested == state_.visible()) return fit_step();
      return state_.set_visible(requested);
    }
  }
  fit_step();
}

void Navigator::zoom(double factor, std::int64_t at_ns) {
  state_.hold();
  state_.set_visible(zoomed(state_.visible(), factor, at_ns));
}

void Navigator::pan(double share_of_visible) {
  state_.hold();
  state_.set_visible(
      moved(state_.visible(), std::llround(static_cast<double>(state_.visible().length()) * share_of_visible)));
}

void Navigator::selection_to_range() {
  const auto selected = state_.selected();
  if (!selected) return;
  const auto span = source_.view()->find(selected->rank, selected->step, selected->op, selected->obtained);
  if (span) state_.set_selected_range({span->begin_ns, span->end_ns});
}

void Navigator::toggle_playing() { state_.set_playing(!state_.playing()); }

void Navigator::play_on() {
  const double passed_ns = static_cast<double>(since_.nsecsElapsed()) * state_.playback_speed() + rest_ns_;
  since_.restart();
  const auto whole = static_cast<std::int64_t>(passed_ns);
  rest_ns_ = passed_ns - static_cast<double>(whole);
  const auto view = source_.view();
  const auto step = state_.step() ? view->step_range(state_.shown(), *state_.step()) : std::nullopt;
  const TimeRange within = step ? *step : state_.extent();
  std::int64_t cursor = state_.cursor().value_or(within.begin_ns) + whole;
  if (cursor < state_.extent().begin_ns) cursor = state_.extent().begin_ns;
  if (cursor >= state_.extent().end_ns && state_.follow() == Follow::held) {
    if (const auto last = step_at(*view, state_.shown(), state_.extent().end_ns - 1)) state_.set_step(last->step);
    state_.set_cursor(state_.extent().end_ns);
    state_.set_playing(false);
    return;
  }
  if (step && cursor >= step->end_ns) {
    std::optional<std::uint32_t> next;
    if (state_.follow() == Follow::last_step) {
      next = last_whole_step(*view, state_.shown());
    } else if (const auto at = step_at(*view, state_.shown(), cursor)) {
      next = at->step;
    }
    const auto range = next ? view->step_range(state_.shown(), *next) : std::nullopt;
    if (range) {
      if (state_.follow() == Follow::last_step) cursor = range->begin_ns;
      const TimeRange visible = state_.visible();
      moving_ = true;
      state_.set_step(next);
      moving_ = false;
      if (cursor < visible.begin_ns || cursor > visible.end_ns) fit_step();
    }
  }
  state_.set_cursor(cursor);
  const TimeRange visible = state_.visible();
  if (cursor > visible.end_ns || cursor < visible.begin_ns)
    state_.set_visible({cursor - visible.length() / 20, cursor - visible.length() / 20 + visible.length()});
}

}  // namespace rankscope
