// SPDX-License-Identifier: GPL-3.0-or-later
// A session's run, from the start of its engine, or of an opened feed, to its end.
#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <algorithm>

#include "app/session/session.hpp"
#include "engine/plan/scenario/keys.hpp"
#include "telemetry/event/stopped.hpp"
#include "telemetry/stream/session_directory.hpp"

namespace rankscope::app {

QStringList Session::overrides(const std::set<std::string>& without) const {
  QStringList result;
  if (!edited_ || !file_scenario_ || !scenario_) return result;
  Scenario file = *file_scenario_, requested = *scenario_;
  for (const Key& key : scenario_keys()) {
    const Field before = key.field(file), after = key.field(requested);
    if (written(before) == written(after) || !given(after) || without.count(key.path()) > 0) continue;
    result << QStringLiteral("--set") << QString::fromStdString(key.path() + "=" + written(after));
  }
  return result;
}

EngineCommand Session::engine_command() {
  EngineCommand command{engine_program(), {}};
  if (command.program.isEmpty())
    throw SourceError("rankscope-engine is neither in the folder of this program nor on PATH");
  endpoint_folder_ = std::make_unique<SessionDirectory>();
  endpoint_ = QStringLiteral("ipc://%1/run").arg(QString::fromStdString(endpoint_folder_->path().string()));
  command.arguments << QStringLiteral("run") << spec_.text << QStringLiteral("--publish") << endpoint_
                    << QStringLiteral("--await-viewers") << QStringLiteral("1");
  command.arguments << overrides();
  if (!options_.recordings_folder.isEmpty() && QDir().mkpath(options_.recordings_folder)) {
    const QString name = QStringLiteral("%1-%2.mcap")
                             .arg(QFileInfo(spec_.text).completeBaseName(),
                                  QDateTime::currentDateTime().toString(QStringLiteral("yyyyMMdd-HHmmss")));
    recording_ = QDir(options_.recordings_folder).filePath(name);
    command.arguments << QStringLiteral("--record") << recording_;
  }
  return command;
}

void Session::run() {
  if (!can_run()) return;
  cancel_opening();
  for (QString* words : {&failure_, &outcome_, &recording_}) words->clear();
  run_outdated_ = false;
  engine_done_ = feed_done_ = false;
  run_ok_ = true;
  EngineCommand command;
  try {
    endpoint_folder_.reset();
    command = engine_command();
  } catch (const std::exception& error) {
    return fail(QString::fromUtf8(error.what()));
  }
  ++run_number_;
  set_store(std::make_shared<RunStore>(options_.live_bytes, options_.live_steps));
  context_.reset();
  insights_.set_context(nullptr);
  chosen_step_.reset();
  seen_revision_ = analysed_revision_ = 0;
  emit log(command.program + QLatin1Char(' ') + command.arguments.join(QLatin1Char(' ')), false);
  engine_ = std::make_unique<EngineChild>(std::move(command), options_.stop_grace_ms);
  // Progress and remarks are on standard error, too. The reason of a failure is logged when the engine has ended.
  connect(engine_.get(), &EngineChild::line, this, [this](const QString& text, bool) { emit log(text, false); });
  connect(engine_.get(), &EngineChild::ended, this,
          [this](bool ok, int, const QString& reason) { on_engine_ended(ok, reason); });
  set_state(SessionState::starting);
  start_limit_.start(options_.start_limit_ms);
  watch(make_live_feed({SourceKind::endpoint, endpoint_}, store_));
  engine_->start();
}

void Session::watch(std::unique_ptr<Feed> feed) {
  feed_ = std::move(feed);
  listen(*feed_);
  feed_->start();
}

void Session::listen(Feed& feed) {
  connect(&feed, &Feed::connected, this, [this] {
    start_limit_.stop();
    if (state_ == SessionState::starting) set_state(SessionState::running);
  });
  connect(&feed, &Feed::progress, this, [this](double share, const QString& words) {
    progress_ = share;
    progress_words_ = words;
    emit progress_changed();
  });
  connect(&feed, &Feed::notice, this, &Session::log);
  connect(&feed, &Feed::contact_changed, this, [this](Contact contact, int seconds) {
    contact_ = contact;
    silent_s_ = seconds;
    emit contact_changed();
  });
  connect(&feed, &Feed::dismissed, this, [this](const QString& words) {
    detached_ = true;
    dismissal_ = words;
  });
  connect(&feed, &Feed::damaged, this, &Session::take_damage);
  connect(&feed, &Feed::ended, this, &Session::on_feed_ended);
}

void Session::stop() {
  if (!can_stop()) return;
  if (engine_ && engine_->running()) {
    set_state(SessionState::stopping);
    engine_->stop();
  } else if (feed_) {
    detached_ = spec_.connects();
    feed_->stop();
  } else {
    cancel_opening();
  }
}

void Session::on_feed_ended(bool ok, const QString& words) {
  feed_done_ = true;
  if (!ok) {
    run_ok_ = false;
    if (failure_.isEmpty()) failure_ = words;
  }
  if (!words.isEmpty()) emit log(words, !ok);
  if (!engine_ || engine_done_) finish_run();
}

void Session::on_engine_ended(bool ok, const QString& reason) {
  engine_done_ = true;
  if (!ok) {
    run_ok_ = false;
    failure_ = reason;
    emit log(reason, true);
  }
  if (feed_ && !feed_done_) {
    // Messages in the socket are still read. If a relay ended without any message, there is nothing to wait for.
    const bool has_reported = state_ != SessionState::starting;
    await_feed(has_reported && ok ? 1500 : 300);
    return;
  }
  finish_run();
}

// Waits until the feed ends, or nothing has arrived for this time. On a busy machine many messages may be pending.
void Session::await_feed(int quiet_ms) {
  const std::uint64_t seen = store_ ? store_->view()->revision() : 0;
  QTimer::singleShot(quiet_ms, feed_.get(), [this, seen, quiet_ms] {
    if (!feed_ || feed_done_) return;
    if (store_ && store_->view()->revision() != seen) return await_feed(quiet_ms);
    feed_->stop();
  });
}

// How it ended: completed, stopped by request, or failed.
void Session::take_ends(const std::vector<End>& ends) {
  const auto session_end = std::find_if(ends.begin(), ends.end(), [](const End& end) { return end.rank == -1; });
  if (session_end != ends.end()) detached_ = false;  // it ended in the meantime
  if (detached_)
    outcome_ = dismissal_.isEmpty() ? tr("the run continues") : tr("%1; the run continues").arg(dismissal_);
  const auto stopped = std::find_if(ends.begin(), ends.end(), was_stopped);
  if (stopped != ends.end()) {
    outcome_ = stopped->last_step < 0 ? tr("stopped before it finished a step")
                                      : tr("stopped after step %1").arg(stopped->last_step);
    emit log(outcome_, false);
    return;
  }
  for (const End& end : ends)
    if (!end.ok && failure_.isEmpty()) {
      failure_ = QString::fromStdString(end.message);
      run_ok_ = spec_.kind == SourceKind::trace;  // reading the recording succeeded, although the run in it failed
      emit log(failure_, true);
    }
}

void Session::finish_run() {
  start_limit_.stop();
  since_poll_.invalidate();
  poll();
  const bool anything = store_ && run_view_->hello() != nullptr;
  take_ends(store_ ? run_view_->ends() : std::vector<End>{});
  if (!anything && spec_.kind == SourceKind::scenario) {
    set_store(nullptr);  // no data arrived: the prediction is shown again
    emit changed();
  }
  analysed_revision_ = 0;
  set_state(run_ok_ ? SessionState::ended : SessionState::failed);
  request_figures();
}

}  // namespace rankscope::app
