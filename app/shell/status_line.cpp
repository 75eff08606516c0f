// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/status_line.hpp"

#include <QFileInfo>

#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

QString state_words(SessionState state) {
  switch (state) {
    case SessionState::empty: return StatusLine::tr("nothing is open");
    case SessionState::opening: return StatusLine::tr("opening");
    case SessionState::ready: return StatusLine::tr("ready");
    case SessionState::starting: return StatusLine::tr("starting the engine");
    case SessionState::running: return StatusLine::tr("running");
    case SessionState::stopping: return StatusLine::tr("stopping");
    case SessionState::ended: return StatusLine::tr("ended");
    case SessionState::failed: return StatusLine::tr("failed");
  }
  return {};
}

}  // namespace

StatusLine::StatusLine(Session& session, QWidget* parent)
    : QWidget(parent), session_(session), left_(new ElidedLabel(this)), right_(new ElidedLabel(this)) {
  setObjectName(QStringLiteral("statusBar"));
  setAttribute(Qt::WA_StyledBackground);
  setFixedHeight(22);
  auto* row = row_in(this, 24, {16, 0, 16, 0});
  for (ElidedLabel* label : {left_, right_}) {
    label->setFont(number_font());
    // Neither makes the window wider, however long the text is.
    label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  }
  right_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  right_->hide();
  row->addWidget(left_, 2);
  row->addWidget(right_, 3);
  set_up_pause(limit_, 200, this, &StatusLine::take_in);
  const auto soon = [this] {
    if (!limit_.isActive()) limit_.start();
  };
  connect(&session, &SnapshotSource::changed, this, soon);
  connect(&session, &Session::state_changed, this, &StatusLine::take_in);
  connect(&session, &Session::scenario_changed, this, soon);
  connect(&session, &Session::progress_changed, this, soon);
  connect(&session, &Session::contact_changed, this, soon);
  take_in();
}

void StatusLine::describe(const QString& words) {
  right_->set_text(words);
  right_->setVisible(!words.isEmpty());
}

void StatusLine::set_marks(std::size_t marks) {
  if (marks == marks_) return;
  marks_ = marks;
  take_in();
}

void StatusLine::take_in() {
  const auto view = session_.view();
  QStringList words;
  const bool detached = session_.label() == SourceLabel::detached;
  const bool only_outcome = session_.state() == SessionState::ended && !session_.outcome().isEmpty() && !detached;
  const bool is_silent = session_.silent_seconds() > 0 && is_watched(session_.label());
  words << (is_silent ? tr("no data for %1 s").arg(session_.silent_seconds())
            : session_.predicting() && session_.spec().kind == SourceKind::scenario    ? tr("predicting")
            : detached                                                                 ? tr("detached")
            : only_outcome                                                             ? session_.outcome()
            : session_.state() == SessionState::ready && !session_.refusal().isEmpty() ? tr("cannot run here")
                                                                                       : state_words(session_.state()));
  if (detached) words << session_.outcome();
  if (!session_.failure().isEmpty()) words << session_.failure();
  const bool connected = is_watched(session_.label()) || session_.state() == SessionState::opening;
  if (connected && !session_.endpoint().isEmpty()) words << session_.endpoint();
  if (const Hello* hello = view->hello(); hello != nullptr && hello->ranks > 0) {
    const int planned = session_.scenario() ? session_.scenario()->plan.ranks() : hello->ranks;
    words << (planned > hello->ranks ? tr("%1 ranks (%2 shown)").arg(text::count(planned)).arg(hello->ranks)
              : hello->ranks == 1    ? tr("1 rank")
                                     : tr("%1 ranks").arg(text::count(hello->ranks)));
    const std::int64_t evicted = view->evicted_count();
    words << tr("%1 events").arg(text::count(view->event_count() + evicted));
    if (evicted > 0) words << tr("the latest %1 are stored").arg(text::count(view->event_count()));
    if (session_.label() != SourceLabel::simulated) words << tr("%1 dropped").arg(text::count(view->dropped_count()));
  }
  if (!session_.progress_words().isEmpty()) words << session_.progress_words();
  if (!session_.recording().isEmpty()) {
    const QFileInfo file(session_.recording());
    const QString size =
        file.exists() ? QStringLiteral(", ") + text::bytes(static_cast<double>(file.size())) : QString();
    words << (session_.spec().kind == SourceKind::trace
                  ? file.fileName() + size
                  : (connected ? tr("recording to %1") : tr("recorded to %1")).arg(file.fileName() + size));
  }
  if (marks_ > 0) words << (marks_ == 1 ? tr("1 mark") : tr("%1 marks").arg(marks_)) + tr(" (Ctrl+Shift+D)");
  const QString line = words.join(QStringLiteral("  ·  "));
  left_->set_text(line);
  setToolTip(session_.recording().isEmpty() ? line : line + QLatin1Char('\n') + session_.recording());
}

}  // namespace rankscope::app
