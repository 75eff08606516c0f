// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/experiment_log.hpp"

#include <algorithm>
#include <utility>

namespace rankscope::app {
namespace {

constexpr std::size_t most_rows = 40;  ///< each has a run
constexpr qsizetype most_lines = 400;  ///< of a command's output, kept

/// How the session's content was obtained: simulated if nothing ran.
Obtained obtained_in(const Figures& figures) { return figures.run ? figures.run->obtained : Obtained::simulated; }

/// "plan.micro_batches=16, train.steps=3".
QString changes_of(const Session& session) {
  QStringList changes = session.overrides();
  changes.removeAll(QStringLiteral("--set"));
  return changes.join(QStringLiteral(", "));
}

}  // namespace

ExperimentLog::ExperimentLog(Session& session, QObject* parent) : QObject(parent), session_(session) {
  connect(&session.figures(), &FiguresModel::changed, this, &ExperimentLog::take_figures);
  connect(&session, &Session::state_changed, this, &ExperimentLog::take_figures);
  connect(&session, &Session::scenario_changed, this, &ExperimentLog::take_scenario);
}

ExperimentLog::~ExperimentLog() {
  if (child_) child_->disconnect(this);
}

void ExperimentLog::take_scenario() {
  const QString file = session_.spec().kind == SourceKind::scenario ? session_.spec().text : QString();
  if (file == file_) return;
  stop();
  file_ = file;
  rows_.clear();
  child_row_.reset();
  emit changed();
}

// The oldest row is removed if there are too many.
ExperimentRow& ExperimentLog::add_row(const QString& name) {
  if (rows_.size() >= most_rows) {
    rows_.erase(rows_.begin());
    if (child_row_) child_row_ = *child_row_ > 0 ? std::optional(*child_row_ - 1) : std::nullopt;
  }
  ExperimentRow& row = rows_.emplace_back();
  row.name = name;
  return row;
}

ExperimentRow* ExperimentLog::row_of(const Scenario& scenario, Obtained obtained) {
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const ExperimentRow& row) {
    return row.scenario == scenario && row.obtained == obtained;
  });
  return found == rows_.end() ? nullptr : &*found;
}

void ExperimentLog::note_plan(const QString& name) {
  const auto& scenario = session_.scenario();
  if (!scenario || file_.isEmpty()) return;
  if (row_of(*scenario, Obtained::simulated) == nullptr) add_row(name).scenario = scenario;
  take_figures();
  emit changed();
}

// A plan that cannot even be predicted has no figures: its row gives the reason.
void ExperimentLog::take_refusal() {
  const auto& prediction = session_.predicted();
  if (!prediction || prediction->refusal.empty() || session_.scenario() != prediction->scenario) return;
  ExperimentRow* row = row_of(prediction->scenario, Obtained::simulated);
  if (row == nullptr || row->state == ExperimentRow::State::failed) return;
  row->state = ExperimentRow::State::failed;
  row->output = QString::fromStdString(prediction->refusal);
  emit changed();
}

// Every run is a row, whether started from the list or by the Run button.
void ExperimentLog::take_figures() {
  take_refusal();
  const auto figures = session_.figures().latest();
  if (file_.isEmpty() || !figures->scenario || figures->scenario != session_.scenario()) return;
  const Obtained obtained = obtained_in(*figures);
  const bool over = session_.state() == SessionState::ended;
  ExperimentRow* row = row_of(*figures->scenario, obtained);
  if (row == nullptr && figures->run && over) {
    const ExperimentRow* predicted = row_of(*figures->scenario, Obtained::simulated);
    const QString name = predicted != nullptr ? predicted->name
                         : session_.edited()  ? changes_of(session_)
                                              : tr("the lesson's plan");
    row = &add_row(name);
    row->scenario = figures->scenario;
    row->obtained = obtained;
  }
  if (row == nullptr || figures->shown() == nullptr || (figures->run && !over)) return;
  if (row->figures == figures && row->state == ExperimentRow::State::done) return;
  row->figures = figures;
  row->state = ExperimentRow::State::done;
  row->output = session_.refusal();  // why a plan for another machine is only predicted
  row->content = session_.content();
  row->kept = kept_run(session_);
  row->kept.name = row->name;
  emit changed();
}

void ExperimentLog::run_command(const QString& name, const QStringList& arguments) {
  if (child_ || file_.isEmpty()) return;
  add_row(name);
  child_row_ = rows_.size() - 1;
  output_lines_.clear();
  child_ = std::make_unique<EngineChild>(EngineCommand{session_.engine_program(), arguments});
  connect(child_.get(), &EngineChild::line, this, [this](const QString& text, bool) {
    if (output_lines_.size() < most_lines) output_lines_ << text;
  });
  connect(
      child_.get(), &EngineChild::ended, this, [this](bool ok, int, const QString& reason) { take_end(ok, reason); },
      Qt::QueuedConnection);
  child_->start();
  emit changed();
}

void ExperimentLog::stop() {
  if (child_) child_->stop();
}

void ExperimentLog::take_end(bool ok, const QString& reason) {
  child_.release()->deleteLater();
  if (const auto at = std::exchange(child_row_, std::nullopt)) {
    ExperimentRow& row = rows_[*at];
    row.state = ok ? ExperimentRow::State::done : ExperimentRow::State::failed;
    if (!ok && output_lines_.isEmpty()) output_lines_ << reason;
    row.output = output_lines_.join(QLatin1Char('\n'));
  }
  emit changed();
}

}  // namespace rankscope::app
