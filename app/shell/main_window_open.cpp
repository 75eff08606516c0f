// SPDX-License-Identifier: GPL-3.0-or-later
// How the window opens something, its messages about it, and the list of recent sources.
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QPlainTextEdit>
#include <QSettings>
#include <QTime>

#include "app/lesson/lab_panel.hpp"
#include "app/shell/banner.hpp"
#include "app/shell/main_window.hpp"
#include "app/shell/workspace.hpp"
#include "app/views/compare/compare_view.hpp"
#include "app/views/scaling/scaling_view.hpp"
#include "app/views/timeline/timeline_view.hpp"
#include "engine/plan/scenario/read.hpp"

namespace rankscope::app {
namespace {

constexpr int most_recent = 12;

// Subjects of the banner.
const QString opening_subject = QStringLiteral("opening"), damage_subject = QStringLiteral("damage");
const QString run_subject = QStringLiteral("run"), class_subject = QStringLiteral("class");
const QString contact_subject = QStringLiteral("contact");

/// The display name: a file by its name, an endpoint as typed.
QString short_name(const SourceSpec& spec) {
  return spec.kind == SourceKind::endpoint ? spec.text : QFileInfo(spec.text).fileName();
}

/// The reason without the path at its begin, which the sentence already has.
QString without_path(QString why, const SourceSpec& spec) {
  for (const QString& front : {spec.text, QFileInfo(spec.text).fileName()})
    if (!front.isEmpty() && why.startsWith(front + QStringLiteral(": "))) return why.mid(front.size() + 2);
  return why;
}

}  // namespace

void MainWindow::make_opening() {
  connect(&session_, &Session::left, this, [this] {
    state_.set_playing(false);
    state_.set_selected({});
    state_.set_selected_range({});
    state_.set_follow(Follow::last_step);
    for (const QString& subject : {opening_subject, damage_subject, run_subject, contact_subject})
      banner_->clear(subject);
  });
  connect(&session_, &Session::opened, this, [this](const SourceSpec& spec) {
    add_recent(spec);
    remember_source();
  });
  connect(&session_, &Session::opening_changed, this, &MainWindow::take_opening);
  waiting_.setInterval(1000);
  connect(&waiting_, &QTimer::timeout, this, &MainWindow::take_opening);
  connect(&session_, &Session::open_failed, this, [this](const SourceSpec& spec, const QString& why) {
    show_not_opened(short_name(spec), without_path(why, spec), spec.connects() ? spec : SourceSpec{});
  });
  connect(&session_, &Session::damage_changed, this,
          [this] { banner_->show_message(damage_subject, BannerKind::warning, session_.damage()); });
  connect(&session_, &Session::state_changed, this, &MainWindow::take_run_end);
  connect(&session_, &Session::contact_changed, this, &MainWindow::take_contact);
  connect(&room_, &ClassRoom::changed, this, &MainWindow::take_class);
  for (const auto signal : {&Session::state_changed, &Session::scenario_changed})
    connect(&session_, signal, this, &MainWindow::take_class);
}

void MainWindow::open(const QString& text) {
  try {
    open(classify_source(text));
  } catch (const SourceError& error) {
    const QString why = QString::fromUtf8(error.what());
    add_log(why, true);
    const QString name = text.contains(QLatin1String("://")) ? text : QFileInfo(text).fileName();
    show_not_opened(name, without_path(why, {SourceKind::none, text}), {});
  }
}

void MainWindow::open(const SourceSpec& spec) {
  banner_->clear(opening_subject);
  // A sweep is many runs: it is read in addition to the open content.
  if (spec.kind == SourceKind::trace && !spec.is_foreign() && is_sweep_file(spec.text)) {
    workspace_->bring(scaling_);
    scaling_->open_sweep(spec.text);
    add_recent(spec);
    return;
  }
  session_.open(spec);
}

void MainWindow::compare_with(const QString& trace) {
  workspace_->bring(compare_);
  compare_->open(trace);
}

void MainWindow::show_not_opened(const QString& name, const QString& why, const SourceSpec& again) {
  std::vector<BannerAction> actions;
  if (again.kind != SourceKind::none) actions.push_back({tr("Try again"), [this, again] { open(again); }});
  not_opened_ = {tr("Could not open %1").arg(name), why};
  banner_->show_message(opening_subject, BannerKind::error, tr("%1: %2").arg(not_opened_.first, why),
                        std::move(actions));
  take_empty_words();
}

// The source that is being opened while the current content stays.
void MainWindow::take_opening() {
  const SourceSpec spec = session_.opening();
  if (spec.kind == SourceKind::none) {
    waiting_.stop();
    if (!banner_->is_error(opening_subject)) banner_->clear(opening_subject);
    return take_empty_words();
  }
  if (spec.connects() && !waiting_.isActive()) waiting_.start();
  // A file that is read immediately needs no text.
  if (spec.connects() || session_.opening_ms() > 400)
    banner_->show_message(opening_subject, BannerKind::info, opening_words(),
                          {{tr("Cancel"), [this] { session_.cancel_opening(); }}});
  take_empty_words();
}

QString MainWindow::opening_words() const {
  const SourceSpec spec = session_.opening();
  if (!spec.connects()) return tr("Opening %1 (%2 %)").arg(short_name(spec)).arg(qRound(session_.progress() * 100));
  const QString heard = session_.opening_words().isEmpty() ? tr("no answer yet") : session_.opening_words();
  return tr("Connecting to %1 (%2 s, %3)").arg(short_name(spec)).arg(session_.opening_ms() / 1000).arg(heard);
}

// What is shown is no longer the present.
void MainWindow::take_contact() {
  hang_->set_live(session_.label() == SourceLabel::live);
  if (session_.label() != SourceLabel::lost) return banner_->clear(contact_subject);
  const QTime since = QTime::currentTime().addSecs(-session_.silent_seconds());
  if (!banner_->text(contact_subject).isEmpty()) return;
  banner_->show_message(contact_subject, BannerKind::error,
                        tr("The connection to %1 is lost: nothing has arrived since %2. What arrived before is shown, "
                           "and the window tries to connect again.")
                            .arg(short_name(session_.spec()), since.toString(QStringLiteral("HH:mm:ss"))),
                        {{tr("Stop watching"), [this] { session_.stop(); }}});
}

// A run that was started here or watched, after its end.
void MainWindow::take_run_end() {
  const SessionState state = session_.state();
  const bool ran = session_.spec().kind == SourceKind::scenario || session_.spec().connects();
  if (state == SessionState::starting) banner_->clear(run_subject);
  if (session_.label() != SourceLabel::lost) banner_->clear(contact_subject);
  if (state == SessionState::failed && ran)
    banner_->show_message(run_subject, BannerKind::error, tr("The run failed: %1").arg(session_.failure()),
                          {{tr("Show log"), [this] { workspace_->bring(log_); }}});
  if (session_.label() == SourceLabel::detached)
    banner_->show_message(run_subject, BannerKind::info,
                          session_.dismissal().isEmpty()
                              ? tr("Detached from %1. The run continues there.").arg(short_name(session_.spec()))
                              : tr("Detached from %1: %2. The run continues there.")
                                    .arg(short_name(session_.spec()), session_.dismissal()),
                          {{tr("Attach again"), [this, spec = session_.spec()] { open(spec); }}});
  const bool recorded = session_.spec().kind == SourceKind::scenario && QFileInfo::exists(session_.recording());
  if (recorded && (state == SessionState::ended || state == SessionState::failed))
    add_recent({SourceKind::trace, session_.recording()});
}

// A student's window predicts until Run is pressed in it: the teacher's run is on the teacher's machine.
void MainWindow::take_class() {
  if (room_.run_is_due())
    banner_->show_message(
        class_subject, BannerKind::info,
        tr("The teacher has run this lab. Your window shows a prediction: press Run to train it here."),
        {{tr("Run"), [this] { session_.run(); }}});
  else
    banner_->clear(class_subject);
}

// The text of an empty time line: the reason, and what to expect or to do.
void MainWindow::take_empty_words() {
  const auto show_message = [this](const QString& title, const QString& hint) {
    timeline_->set_empty_words(title, hint);
  };
  const bool opening = session_.opening().kind != SourceKind::none;
  switch (session_.state()) {
    case SessionState::opening:
      return opening ? show_message(opening_words(), {})
                     : show_message(tr("Opening"), tr("Parts are shown as they are read."));
    case SessionState::starting:
    case SessionState::running:
      return show_message(tr("The first step is running"),
                          tr("Ranks start, and the cost of each op is measured before they train."));
    case SessionState::stopping: return show_message(tr("Stopping the run"), {});
    case SessionState::failed:
      if (session_.spec().kind == SourceKind::none) return show_message(not_opened_.first, not_opened_.second);
      return show_message(tr("The run failed"), session_.failure());
    case SessionState::empty:
      return show_message(tr("Nothing is open"), tr("Open a lab, a scenario or a recording (Ctrl+O)."));
    case SessionState::ready:
    case SessionState::ended:
      if (!session_.refusal().isEmpty()) return show_message(tr("This plan cannot run"), session_.refusal());
      return show_message(tr("Nothing to show yet"),
                          session_.can_run() ? tr("Press Run to train this scenario.") : QString());
  }
}

void MainWindow::open_dialog() {
  const QString file = QFileDialog::getOpenFileName(
      this, tr("Open"), QFileInfo(session_.spec().text).absolutePath(),
      tr("Scenarios, recordings and PyTorch traces (*.toml *.mcap *.json *.json.gz);;All files (*)"));
  if (!file.isEmpty()) open(file);
}

void MainWindow::add_recent(const SourceSpec& spec) {
  // An endpoint is an address of a run, not its data: only files are opened again.
  if (!remember_ || (spec.kind != SourceKind::scenario && spec.kind != SourceKind::trace)) return;
  QSettings settings;
  QStringList files = settings.value(QStringLiteral("recent")).toStringList();
  files.removeAll(spec.text);
  files.prepend(spec.text);
  while (files.size() > most_recent) files.removeLast();
  settings.setValue(QStringLiteral("recent"), files);
}

void MainWindow::fill_recent() {
  recent_->clear();
  for (const QString& file : QSettings().value(QStringLiteral("recent")).toStringList()) {
    if (!QFileInfo::exists(file)) continue;
    QAction* action = recent_->addAction(QFileInfo(file).fileName(), this, [this, file] { open(file); });
    action->setToolTip(file);
  }
  if (recent_->isEmpty()) recent_->addAction(tr("Nothing yet"))->setEnabled(false);
}

// In the form of --set: the edited plan is restored with its file.
void MainWindow::remember_source() const {
  if (!remember_) return;
  const SourceSpec& spec = session_.spec();
  if (spec.kind != SourceKind::scenario && spec.kind != SourceKind::trace) return;
  QSettings settings;
  settings.setValue(QStringLiteral("open/source"), spec.text);
  QStringList overrides = session_.overrides();
  overrides.removeAll(QStringLiteral("--set"));
  settings.setValue(QStringLiteral("open/plan"), overrides);
}

QString MainWindow::last_source_name() const {
  if (!remember_) return {};
  const QString file = QSettings().value(QStringLiteral("open/source")).toString();
  if (file.isEmpty() || !QFileInfo::exists(file)) return {};
  for (const Lab* lab : lab_->library().labs())
    if (QString::fromStdString(lab->file) == file) return QString::fromStdString(lab->title);
  return QFileInfo(file).fileName();
}

void MainWindow::open_again() {
  const QSettings settings;
  const QString file = settings.value(QStringLiteral("open/source")).toString();
  const QStringList plan = settings.value(QStringLiteral("open/plan")).toStringList();
  open(file);
  if (session_.state() == SessionState::failed) return;
  if (plan.isEmpty() || !session_.scenario() || session_.spec().kind != SourceKind::scenario) return;
  Scenario edited = *session_.scenario();
  try {
    for (const QString& key : plan) set_value(edited, parse_override(key.toStdString()), file.toStdString());
  } catch (const ScenarioError& error) {
    // The plan is of another version: the file's own plan stays.
    return add_log(QString::fromUtf8(error.what()), true);
  }
  session_.edit(edited);
}

}  // namespace rankscope::app
