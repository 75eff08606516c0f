// SPDX-License-Identifier: GPL-3.0-or-later
// How a session opens something: the current content stays until the new one has arrived, or cannot be opened.
#include <utility>

#include "app/session/session.hpp"
#include "engine/plan/scenario/read.hpp"

namespace rankscope::app {
namespace {

QString limit_words(int ms) { return ms % 1000 == 0 ? QString::number(ms / 1000) : QString::number(ms / 1000.0); }

}  // namespace

bool Session::has_content() const {
  return scenario_.has_value() || (run_view_ != nullptr && run_view_->hello() != nullptr);
}

std::int64_t Session::opening_ms() const { return pending_.since.isValid() ? pending_.since.elapsed() : 0; }

void Session::open(const SourceSpec& spec) {
  cancel_opening();
  switch (spec.kind) {
    case SourceKind::none: leave(); return set_state(SessionState::empty);
    case SourceKind::scenario: return open_scenario(spec);
    case SourceKind::trace:
    case SourceKind::endpoint:
    case SourceKind::join_file: return open_feed(spec);
  }
}

void Session::open_scenario(const SourceSpec& spec) {
  Scenario scenario;
  try {
    // A scenario is a few dozen lines: reading it here takes well under a millisecond. Compiling it does not.
    scenario = read_scenario(spec.text.toStdString());
  } catch (const ScenarioError& error) {
    return refuse_opening(spec, QString::fromUtf8(error.what()));
  }
  leave();
  spec_ = spec;
  file_scenario_ = std::move(scenario);
  set_state(SessionState::opening);
  use_scenario(*file_scenario_, false);
  emit opened(spec_);
}

void Session::open_feed(const SourceSpec& spec) {
  const bool recording = spec.kind == SourceKind::trace;
  pending_.spec = spec;
  pending_.store =
      recording ? std::make_shared<RunStore>() : std::make_shared<RunStore>(options_.live_bytes, options_.live_steps);
  pending_.feed = make_feed(spec, pending_.store);
  pending_.since.start();
  if (!has_content()) {
    // There is no earlier content to keep.
    leave();
    set_state(SessionState::opening);
  }
  Feed* feed = pending_.feed.get();
  connect(feed, &Feed::notice, this, [this](const QString& words, bool bad) {
    pending_.words = words;
    emit log(words, bad);
    emit opening_changed();
  });
  connect(feed, &Feed::connected, this, [this] {
    pending_.since.start();
    pending_.words = tr("connected; the run has not begun");
    emit opening_changed();
  });
  connect(feed, &Feed::damaged, this, [this](const QString& words) { pending_.damage = words; });
  connect(feed, &Feed::progress, this, [this](double share, const QString& words) {
    progress_ = share;
    pending_.words = words;
    emit opening_changed();
  });
  connect(feed, &Feed::ended, this, [this](bool ok, const QString& words) {
    const SourceSpec called = pending_.spec;
    if (pending_.store->view()->hello() != nullptr) {
      take_opened();
      return on_feed_ended(ok, words);
    }
    cancel_opening();
    refuse_opening(called, !words.isEmpty() ? words : tr("%1: contains no run").arg(called.text));
  });
  emit opening_changed();
  feed->start();
}

void Session::look_at_opening() {
  if (pending_.spec.kind == SourceKind::none) return;
  if (pending_.store->view()->hello() != nullptr) return take_opened();
  if (pending_.spec.kind == SourceKind::trace || opening_ms() < options_.connect_limit_ms) return;
  const SourceSpec spec = pending_.spec;
  const QString heard = pending_.words;
  cancel_opening();
  refuse_opening(spec, tr("no answer for %1 s%2; check the address and that the run is still active")
                           .arg(limit_words(options_.connect_limit_ms),
                                heard.isEmpty() ? QString() : QStringLiteral(" (%1)").arg(heard)));
}

void Session::take_opened() {
  Pending taken = std::exchange(pending_, {});
  taken.feed->disconnect(this);
  leave();
  spec_ = taken.spec;
  set_store(std::move(taken.store));
  if (!spec_.is_foreign()) (spec_.kind == SourceKind::trace ? recording_ : endpoint_) = spec_.text;
  since_poll_.start();
  engine_done_ = feed_done_ = false;
  run_ok_ = true;
  feed_ = std::move(taken.feed);
  listen(*feed_);
  set_state(spec_.kind == SourceKind::trace ? SessionState::opening : SessionState::running);
  emit opening_changed();
  learn_scenario();
  emit changed();
  emit opened(spec_);
  if (!taken.damage.isEmpty()) take_damage(taken.damage);
}

void Session::take_damage(const QString& words) {
  damage_ = words;
  emit log(words, true);
  emit damage_changed();
}

void Session::cancel_opening() {
  if (pending_.spec.kind == SourceKind::none) return;
  Pending left = std::exchange(pending_, {});
  left.feed->disconnect(this);
  // It may be the caller; its destructor waits for its thread.
  left.feed.release()->deleteLater();
  emit opening_changed();
  if (!has_content()) set_state(SessionState::empty);
}

void Session::refuse_opening(const SourceSpec& spec, const QString& why) {
  emit log(why, true);
  if (!has_content()) {
    failure_ = why;
    set_state(SessionState::failed);
  }
  emit open_failed(spec, why);
}

}  // namespace rankscope::app
