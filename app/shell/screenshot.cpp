// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/screenshot.hpp"

#include "app/views/search/search_view.hpp"

namespace rankscope::app {
namespace {

/// This many checks in a row must find no pending work: a result may cause the next request.
constexpr int unchanged_checks = 6, check_interval_ms = 30;
constexpr int answer_limit_ms = 10000;

}  // namespace

Screenshot::Screenshot(MainWindow& window, const CommandLine& line, int limit_ms, QObject* parent)
    : QObject(parent), window_(window), line_(line), limit_ms_(limit_ms) {
  since_.start();
  timer_.setInterval(check_interval_ms);
  connect(&timer_, &QTimer::timeout, this, &Screenshot::poll);
  timer_.start();
}

bool Screenshot::ready() const {
  const SessionState state = const_cast<MainWindow&>(window_).session().state();
  switch (state) {
    case SessionState::empty:
    case SessionState::ended:
    case SessionState::failed: return true;
    case SessionState::ready: return !line_.run || started_;
    case SessionState::running:
      // A run elsewhere may last for days: the picture shows what has arrived so far. A run started here is awaited.
      return window_.session().spec().kind != SourceKind::scenario &&
             window_.session().view()->steps(window_.state().shown()).size() > 1;
    case SessionState::opening:
    case SessionState::starting:
    case SessionState::stopping: return false;
  }
  return true;
}

void Screenshot::poll() {
  Session& session = window_.session();
  if (line_.run && !started_ && session.state() == SessionState::ready && session.settled()) {
    started_ = true;
    if (!session.can_run()) {
      timer_.stop();
      return emit done(2, session.refusal());
    }
    session.run();
    return;
  }
  const SourceSpec called = session.opening();
  const bool calling = called.connects();
  const int limit_ms = calling ? std::min(limit_ms_, answer_limit_ms) : limit_ms_;
  if (since_.elapsed() > limit_ms) {
    timer_.stop();
    return emit done(1, calling ? tr("%1: no answer within %2 s").arg(called.text).arg(limit_ms / 1000)
                                : tr("no data to draw arrived within %1 s").arg(limit_ms / 1000));
  }
  calm_ = ready() && window_.settled() ? calm_ + 1 : 0;
  if (calm_ < unchanged_checks) return;
  if (!alone_ && !line_.view.isEmpty()) {
    // Other sizes need other pictures: wait once more.
    alone_ = true;
    calm_ = 0;
    // The search view has results only after a search. (A presented view is not a child of the window: search before
    // that.)
    if (auto* search = window_.findChild<SearchView*>(); search != nullptr && line_.view == QLatin1String("search"))
      search->start_briefly();
    if (line_.presentation)
      window_.present(line_.view);
    else
      window_.show_alone(line_.view);
    window_.resize(line_.size);
    return;
  }
  timer_.stop();
  if (session.state() == SessionState::failed && session.view()->hello() == nullptr)
    return emit done(session.spec().kind == SourceKind::scenario && !started_ ? 2 : 1, session.failure());
  const bool table = line_.screenshot.endsWith(QLatin1String(".csv"), Qt::CaseInsensitive);
  const QString why = window_.save(table ? line_.view : QString(), line_.screenshot);
  if (!why.isEmpty()) return emit done(1, why);
  if (session.state() == SessionState::failed) return emit done(1, session.failure());
  emit done(0, {});
}

}  // namespace rankscope::app
