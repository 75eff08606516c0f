// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/main_window.hpp"

#include <QApplication>
#include <QCloseEvent>
#include <QComboBox>
#include <QDateTime>
#include <QFileInfo>
#include <QKeyEvent>
#include <QLineEdit>
#include <QLocale>
#include <QPlainTextEdit>
#include <QSpinBox>
#include <QStandardPaths>
#include <QTimer>
#include <array>

#include "app/lesson/class_window.hpp"
#include "app/lesson/lab_panel.hpp"
#include "app/lesson/lesson_text.hpp"
#include "app/session/figures.hpp"
#include "app/shell/banner.hpp"
#include "app/shell/gap_strip.hpp"
#include "app/shell/plan_panel.hpp"
#include "app/shell/status_line.hpp"
#include "app/shell/top_bar.hpp"
#include "app/shell/view_list.hpp"
#include "app/shell/workspace.hpp"
#include "app/views/common/language.hpp"
#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"
#include "app/views/compare/compare_view.hpp"
#include "app/views/hang/hang_view.hpp"
#include "app/views/paths/paths_view.hpp"
#include "app/views/program/program_view.hpp"
#include "app/views/scaling/scaling_view.hpp"
#include "app/views/timeline/timeline_view.hpp"
#include "app/views/training/training_view.hpp"
#include "engine/explain/facts/imported.hpp"
#include "engine/lesson/lab/translation.hpp"
#include "engine/op/contains.hpp"
#include "engine/plan/scenario/read.hpp"

namespace rankscope::app {
namespace {

constexpr int kept_log_lines = 5000;

/// Whether a widget, or one that contains it, is played by this key.
bool is_played_by(const QWidget* widget, int key) {
  constexpr std::array playing_keys{Qt::Key_Period, Qt::Key_Comma, Qt::Key_Space, Qt::Key_Home, Qt::Key_End};
  if (!contains(playing_keys, key)) return false;
  for (; widget != nullptr; widget = widget->parentWidget())
    if (widget->property(plays_property).toBool()) return true;
  return false;
}

/// "23 Nov 2026, 12:29 UTC" from ISO 8601; other text is not changed.
QString time_words(const QString& iso) {
  const QDateTime time = QDateTime::fromString(iso, Qt::ISODate);
  return time.isValid()
             ? QLocale::c().toString(time.toUTC(), QStringLiteral("d MMM yyyy, HH:mm")) + MainWindow::tr(" UTC")
             : iso;
}

/// Those that are not empty: "node7, nccl, NVIDIA H100".
QString known_of(const std::string& host, const std::string& communicator, const std::string& device) {
  QStringList known;
  for (const std::string* text : {&host, &communicator, &device})
    if (!text->empty()) known << QString::fromStdString(*text);
  return known.join(QStringLiteral(", "));
}

}  // namespace

MainWindow::MainWindow(SessionOptions options, Theme theme, bool remember, QWidget* parent)
    : QMainWindow(parent),
      theme_(theme),
      remember_(remember),
      session_(std::move(options)),
      navigator_(state_, session_) {
  setWindowTitle(tr("Rankscope"));
  setAcceptDrops(true);
  make_layout();
  make_lesson_actions();
  make_welcome();
  make_actions();
  make_opening();
  connect(&session_, &Session::state_changed, this, &MainWindow::take_state);
  connect(&session_, &Session::scenario_changed, this, &MainWindow::take_lab);
  connect(&session_, &SnapshotSource::changed, this, &MainWindow::take_shown);
  connect(&session_, &Session::log, this, &MainWindow::add_log);
  connect(&state_, &SharedState::step_changed, this, [this] { session_.choose_step(state_.step()); });
  // A newly selected range: its table is shown in front.
  connect(&state_, &SharedState::selected_range_changed, this, [this, was = false]() mutable {
    const bool there = !state_.selected_range().empty();
    if (there && !was) workspace_->prefer(views_[QStringLiteral("range")]);
    was = there;
  });
  connect(lab_, &LabPanel::answers_changed, this, &MainWindow::take_answers);
  connect(gap_, &GapStrip::show_anyway_wanted, lab_, &LabPanel::show_anyway);
  connect(plan_, &PlanPanel::show_anyway_wanted, lab_, &LabPanel::show_anyway);
  // After the last answer the run is next; the time line if no run is needed.
  connect(lab_, &LabPanel::all_answered, this, [this] {
    if (run_->isEnabled() && session_.state() == SessionState::ready)
      top_->focus_run();
    else
      timeline_->setFocus();
  });
  connect(gap_, &GapStrip::question_wanted, lab_, [this] {
    workspace_->bring(lab_);
    lab_->show_question();
  });
  connect(lab_, &LabPanel::paths_wanted, this, &MainWindow::show_paths);
  connect(lab_, &LabPanel::lab_wanted, this, qOverload<const QString&>(&MainWindow::open));
  connect(top_, &TopBar::scenario_wanted, this, qOverload<const QString&>(&MainWindow::open));
  // Text that the time line shows is not repeated.
  connect(timeline_, &TimelineView::described, status_, [this](const QString& words) {
    status_->describe(timeline_->layout_now().details.isEmpty() ? words : QString());
  });
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) { notice_active(now); });
  set_theme(theme);
  take_state();
  restore_layout();
  qApp->installEventFilter(this);
  // After all parts have their places: a part that was hidden meanwhile cannot keep the focus.
  QTimer::singleShot(0, timeline_, [this] { timeline_->setFocus(); });
}

MainWindow::~MainWindow() {
  qApp->removeEventFilter(this);
  stop_presenting();
  delete class_window_;
  delete centre_;  // the views' threads use the session: they end before it does
}

void MainWindow::make_layout() {
  centre_ = new QWidget(this);
  auto* column = column_in(centre_, 0);
  top_ = new TopBar(session_, state_, navigator_, centre_);
  workspace_ = new Workspace(centre_);
  lab_ = new LabPanel(session_.figures(), &room_, workspace_);
  lab_->set_paths(&session_.paths());
  lab_->set_variants(&variants_);
  if (remember_)
    lab_->set_answer_file(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) +
                          QStringLiteral("/answers.json"));
  plan_ = new PlanPanel(session_, workspace_);
  gap_ = new GapStrip(session_.figures(), workspace_);
  status_ = new StatusLine(session_, centre_);
  const ViewParts parts{state_, session_, navigator_, workspace_};
  for (const ViewKind& kind : view_kinds()) views_[QLatin1String(kind.name)] = kind.make(parts);
  const auto take = [this]<class View>(View*& view, const char* name) {
    view = static_cast<View*>(views_.at(QLatin1String(name)));
  };
  take(timeline_, "timeline");
  workspace_->set_upper(timeline_, gap_, gap_->sizeHint().height());
  workspace_->add_panel(tr("Lesson"), QStringLiteral("Ctrl+B"), SidePanel::Side::left, lab_);
  workspace_->add_panel(tr("Plan"), QStringLiteral("Ctrl+J"), SidePanel::Side::right, plan_);
  plan_->set_heading_visible(false);  // the panel's own
  connect(gap_, &GapStrip::open_wanted, workspace_, &Workspace::set_shares_open);

  for (const ViewKind& kind : view_kinds()) add_view(kind, views_[QLatin1String(kind.name)]);
  take(scaling_, "scaling");
  take(paths_, "paths");
  take(program_, "program");
  take(hang_, "hang");
  take(compare_, "compare");
  connect(scaling_, &ScalingView::log, this, &MainWindow::add_log);
  connect(plan_, &PlanPanel::text_wanted, this, [this] {
    workspace_->bring(program_);
    program_->show_program(-1);
    program_->editor().setFocus();
  });
  connect(timeline_, &TimelineView::view_wanted, this, [this](const QString& name) {
    workspace_->bring(find_view(name));
    if (const auto chosen = state_.selected(); chosen && find_view(name) == program_)
      program_->show_op(chosen->rank, chosen->op);
  });
  connect(hang_, &HangView::hang_changed, this, [this](bool hangs) {
    workspace_->set_title(hang_, hangs ? tr("Hang ⚠") : tr("Hang"));
    if (hangs) add_log(hang_->title() + QLatin1Char('\n') + hang_->words(), true);
  });
  log_ = new QPlainTextEdit(workspace_);
  log_->setReadOnly(true);
  log_->setFont(fixed_font());  // its tables have columns
  log_->setMaximumBlockCount(kept_log_lines);
  log_->setFrameShape(QFrame::NoFrame);
  log_->setPlaceholderText(tr("The engine's output appears here."));
  log_->setAccessibleName(tr("Output of the engine"));
  workspace_->add_tab(tr("Log"), log_);

  banner_ = new Banner(centre_);
  column->addWidget(top_);
  column->addWidget(banner_);
  column->addWidget(workspace_, 1);
  column->addWidget(status_);
  setCentralWidget(centre_);
}

void MainWindow::set_theme(Theme theme) {
  theme_ = theme;
  const Palette& palette = palette_of(theme);
  qApp->setPalette(qt_palette(palette));
  qApp->setStyleSheet(style_sheet(palette));
  for (auto& [name, view] : views_) view->set_theme(theme);
  gap_->set_theme(theme);
  lab_->set_theme(theme);
  plan_->set_theme(theme);
  if (class_window_ != nullptr) class_window_->refresh();
}

void MainWindow::show_paths(const PathRequest& request) {
  workspace_->bring(paths_);
  paths_->show_request(request);
}

void MainWindow::take_state() {
  hang_->set_live(session_.label() == SourceLabel::live);
  // A disabled button passes the keyboard focus to its neighbour, which stops the run.
  if (!session_.can_run() && top_->run_has_focus()) timeline_->setFocus();
  run_->setEnabled(session_.can_run());
  run_->setToolTip(session_.can_run()             ? tr("Run the plan (Ctrl+R)")
                   : session_.refusal().isEmpty() ? tr("Open a scenario to run it (Ctrl+R)")
                                                  : session_.refusal());
  stop_->setEnabled(session_.can_stop());
  stop_->setToolTip(session_.can_stop() ? tr("Stop (Ctrl+.)") : tr("Nothing is running"));
  if (session_.state() == SessionState::starting) state_.set_follow(Follow::last_step);
  take_empty_words();
  take_no_lesson();
}

void MainWindow::take_shown() {
  // The front layer depends on the data: the prediction until something ran, then the run's headline.
  const auto view = session_.view();
  const Obtained headline = session_.label() == SourceLabel::simulated ? Obtained::simulated : headline_of(*view);
  if (!view->extent(headline).empty()) state_.set_shown(headline);
  take_state();
}

void MainWindow::take_lab() {
  std::optional<Lab> lab;
  QString title, summary;
  lesson_trouble_.clear();
  const auto& scenario = session_.scenario();
  if (scenario) title = QString::fromStdString(scenario->title);
  if (session_.spec().kind == SourceKind::scenario) {
    try {
      lab = read_lab(session_.spec().text.toStdString());
      if (lab) lab = in_language(*std::move(lab), lesson_language());
    } catch (const ScenarioError& error) {
      lesson_trouble_ = QString::fromUtf8(error.what());
      add_log(lesson_trouble_, true);
    }
    if (lab) summary = QString::fromStdString(lab->summary);
    if (lab) title = QString::fromStdString(lab->title);
  }
  const auto view = session_.view();
  // The lesson of a recording: its run is known, so there is nothing to guess.
  if (scenario && session_.spec().kind != SourceKind::scenario && (lab = lab_->lab_titled(scenario->title)))
    lab->questions.clear();
  const Hello* hello = view->hello();
  if (!scenario && hello != nullptr) title = QString::fromStdString(hello->title);
  const bool elsewhere = hello != nullptr && session_.spec().kind != SourceKind::scenario;
  if (elsewhere && session_.label() == SourceLabel::simulated)
    summary = tr("A prediction of %1 steps over %2 ranks. Nothing ran.")
                  .arg(hello->steps)
                  .arg(text::count(scenario ? scenario->plan.ranks() : hello->ranks));
  else if (elsewhere && is_imported(*view))
    summary = tr("The run of another program: %1 ranks (%2). It has no plan, so nothing is predicted.")
                  .arg(text::count(hello->ranks), known_of(hello->host, hello->communicator, hello->device));
  else if (elsewhere)
    summary = tr("Ran on %1, %2 steps planned over %3 ranks (%4, %5), started %6.")
                  .arg(QString::fromStdString(hello->host))
                  .arg(hello->steps)
                  .arg(hello->ranks)
                  .arg(QString::fromStdString(hello->communicator), QString::fromStdString(hello->device),
                       time_words(QString::fromStdString(hello->started_utc)));
  lab_->set_plan(session_.edited(), scenario && !is_here(scenario->cluster));
  take_no_lesson();
  const bool opened = lab && session_.spec().kind == SourceKind::scenario && lab_->lab_file() != lab->file;
  lab_->set_lab(lab, title, summary);
  if (opened && !lab->view.empty())
    if (const auto first = evidence_of(QUrl(QStringLiteral("view:") + QString::fromStdString(lab->view))))
      show_evidence(*first);
  // A recording's own name distinguishes it from its scenario, and from other recordings of that.
  const bool recording = session_.spec().kind == SourceKind::trace;
  const QString name = recording ? QFileInfo(session_.spec().text).fileName() + QStringLiteral(" – ") + title : title;
  setWindowTitle(name.isEmpty() ? tr("Rankscope") : tr("%1 – Rankscope").arg(name));
}

void MainWindow::take_no_lesson() {
  const QString cannot_run = cannot_run_words();
  lab_->set_no_lesson(!lesson_trouble_.isEmpty()      ? tr("The lesson cannot be read: %1").arg(lesson_trouble_)
                      : too_large()                   ? tr("Too large to run here; a simulation is shown.")
                      : !session_.refusal().isEmpty() ? tr("This plan cannot run: %1").arg(session_.refusal())
                                                      : QString());
  gap_->set_next(cannot_run.isEmpty() ? tr("Press Run to compare it with a run.") : cannot_run);
  static_cast<TrainingView*>(views_.at(QStringLiteral("training")))->set_cannot_run(cannot_run);
}

bool MainWindow::too_large() const {
  const auto& predicted = session_.predicted();
  return session_.spec().kind == SourceKind::scenario && predicted && !predicted->folded.empty();
}

QString MainWindow::cannot_run_words() const {
  if (session_.can_run()) return {};
  const bool arrives = is_watched(session_.label()) || session_.state() == SessionState::opening;
  if (session_.active() || arrives) return tr("The first step has not arrived yet.");
  if (session_.spec().kind != SourceKind::scenario)
    return session_.label() == SourceLabel::simulated ? tr("Nothing ran.") : tr("Open a scenario to run it.");
  return too_large() ? tr("Too large to run here.") : tr("This plan cannot run.");
}

void MainWindow::take_answers() {
  std::set<PlanRow> hidden;
  std::uint8_t veiled = 0;
  bool open_questions = false;
  for (const Answer& answer : lab_->answers()) {
    // About another plan, or not about a figure: the shown data would not answer it.
    if (answer.question.variant || answer.question.answer_from.empty()) continue;
    if (answer.open() || lab_->shows_anyway()) continue;
    if (answer.of_paths()) {
      veiled |= shows::paths;
      continue;
    }
    open_questions = true;
    const QString path = QString::fromStdString(answer.question.answer_from);
    const auto rows = rows_revealing(path);
    hidden.insert(rows.begin(), rows.end());
    if (shares_reveal(path)) veiled |= shows::shares;
    if (rows.count(PlanRow::peak_memory) > 0) veiled |= shows::memory;
    if (rows.count(PlanRow::sent) > 0) veiled |= shows::traffic;
    if (training_reveals(path)) veiled |= shows::training;
  }
  const QString until = lab_->hidden_words();
  plan_->set_hidden(hidden, until);
  plan_->set_advice_veil(open_questions ? until : QString());
  const bool shares = (veiled & shows::shares) != 0;
  gap_->set_veil(shares ? until : QString());
  session_.insights().set_veiled(shares);
  for (const ViewKind& kind : view_kinds()) views_[QLatin1String(kind.name)]->set_veiled((kind.shows & veiled) != 0);
}

void MainWindow::add_log(const QString& text, bool bad) {
  const Palette& palette = palette_of(theme_);
  log_->appendHtml(QStringLiteral("<span style=\"color:%1; white-space:pre\">%2</span>")
                       .arg(color(bad ? palette.bad : palette.text).name(), text.toHtmlEscaped()));
}

QString MainWindow::log_text() const { return log_->toPlainText(); }

bool MainWindow::settled() const {
  if (!session_.settled() || !plan_->settled() || !marks_.settled()) return false;
  for (const auto& [name, view] : views_)
    if (view->isVisible() && !view->settled()) return false;
  return true;
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (remember_) save_layout();
  remember_source();
  room_.leave();
  session_.open({});
  event->accept();
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::MouseButtonPress && watched->isWidgetType())
    notice_active(static_cast<QWidget*>(watched));
  if (event->type() == QEvent::KeyPress && presenting() && isActiveWindow() &&
      static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
    stop_presenting();
    return true;
  }
  // In a number field of the plan that is not being edited, undo reverts the plan's last change.
  if (event->type() == QEvent::ShortcutOverride) {
    auto* key = static_cast<QKeyEvent*>(event);
    if ((key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo)) &&
        plan_->is_settled_field(QApplication::focusWidget())) {
      event->ignore();
      return true;
    }
  }
  if (event->type() == QEvent::KeyPress && isActiveWindow() && watched == QApplication::focusWidget() &&
      static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape && press_escape())
    return true;
  // The time line's keys work with any focus, except in text fields.
  if (event->type() == QEvent::KeyPress && isActiveWindow()) {
    auto* key = static_cast<QKeyEvent*>(event);
    QWidget* focus = QApplication::focusWidget();
    const auto takes_keys = [](const QWidget* widget) {
      return qobject_cast<const QLineEdit*>(widget) || qobject_cast<const QAbstractSpinBox*>(widget) ||
             qobject_cast<const QComboBox*>(widget) || qobject_cast<const QPlainTextEdit*>(widget) ||
             (widget != nullptr && widget->property(own_keys_property).toBool());
    };
    const bool typing = takes_keys(focus);
    const bool presses = focus != nullptr && focus->inherits("QAbstractButton") && key->key() == Qt::Key_Space;
    const bool plain = (key->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) == Qt::NoModifier;
    const bool ours = focus != nullptr && focus->window() == this && watched == focus;
    // The time line behind a presented lesson does not move.
    if (presented_ == lab_ && presenting()) {
      const QWidget* inner = lab_->window()->focusWidget();
      const bool typing_inside = inner != nullptr && inner->hasFocus() && takes_keys(inner);
      const bool scrolls = plain && !typing && !typing_inside && !presses && watched == focus;
      return (scrolls && lab_->scroll_by_key(key->key())) || QMainWindow::eventFilter(watched, event);
    }
    if (plain && ours && !typing && !presses && !is_played_by(focus, key->key()) && focus != timeline_ &&
        timeline_->press(key->key()))
      return true;
  }
  return QMainWindow::eventFilter(watched, event);
}

}  // namespace rankscope::app
